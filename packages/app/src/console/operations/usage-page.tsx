/** What was used, by day and embed tenant, as small charts and as a table, and as CSV for bills. */
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { Bars } from '../parts/bars.tsx';
import { FilterField, Filters } from '../parts/fields.tsx';
import { shownNumber, useFilters, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type UsageOfDay = Awaited<ReturnType<typeof api.getUsage>>['items'][number];
const MEASURES = ['sessions', 'viewers', 'queries', 'rows'] as const;

function Usage() {
  const [filters, change] = useFilters(['embedTenantName', 'from', 'to'] as const);
  const key = `usage/${JSON.stringify(filters)}`;
  const loaded = useList(key, (first, signal) => api.getUsage({ ...filters, first }, { signal }));
  // All days and all embed tenants, however many there are.
  const { data: days = [] } = useData(`${key}/days`, async (signal) =>
    (await api.getUsage({ ...filters, sum: 'day', first: 1000 }, { signal })).items.toReversed(),
  );
  const asTexts = Object.entries(filters).map(([name, value]) => [name, value]);
  const labels = { embedTenantName: say('tenant'), from: say('from'), to: say('lastDay') };
  return (
    <>
      <PageHead title={sayShared('usage')} hint={say('usageHint')}>
        <a class="button" href={`/api/v1/usage/export?${new URLSearchParams(asTexts)}`} download="usage.csv">
          CSV
        </a>
      </PageHead>
      <Filters>
        {(['embedTenantName', 'from', 'to'] as const).map((name) => (
          <FilterField
            key={name}
            label={labels[name]}
            type={name === 'embedTenantName' ? 'search' : 'date'}
            value={filters[name] ?? ''}
            onChange={(value) => change({ [name]: value })}
          />
        ))}
      </Filters>
      {days.length > 1 && (
        <div class="console-cards charts">
          {MEASURES.map((measure) => (
            <Bars
              key={measure}
              title={say('perDay', { what: say(measure) })}
              bars={days.map((one) => ({ label: one.day, value: one[measure] }))}
              total={shownNumber(days.reduce((sum, one) => sum + one[measure], 0))}
            />
          ))}
        </div>
      )}
      <Table
        label={sayShared('usage')}
        loaded={loaded}
        more={loaded.more}
        keyOf={({ day, embedTenantName }) => `${day} ${embedTenantName}`}
        empty={say('noUsage')}
        emptyHint={say('noUsageHint')}
        columns={[
          { title: say('day'), cell: ({ day }) => day },
          { title: say('tenant'), cell: ({ embedTenantName }) => embedTenantName ?? say('ownAccount') },
          ...MEASURES.map((measure) => ({
            title: say(measure),
            isNumber: true,
            isWide: measure === 'rows' || measure === 'viewers',
            cell: (one: UsageOfDay) => shownNumber(one[measure]),
          })),
        ]}
      />
    </>
  );
}

export default consolePage('adminUsage', Usage);
