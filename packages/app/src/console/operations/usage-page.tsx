/** What was used, by day and embed tenant, as small charts and as a table, and as CSV for bills. */
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { FilterField, Filters } from '../parts/fields.tsx';
import { shownNumber, useFilters } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type UsageOfDay = Awaited<ReturnType<typeof api.getUsage>>['items'][number];
const MEASURES = ['sessions', 'viewers', 'queries', 'rows'] as const;

function Usage() {
  const [filters, change] = useFilters(['embedTenantName', 'from', 'to'] as const);
  const loaded = useData(`usage/${JSON.stringify(filters)}`, async (signal) => {
    const { items, pageInfo } = await api.getUsage({ ...filters, first: 1000 }, { signal });
    return { items, hasMore: pageInfo.hasNextPage };
  });
  const asTexts = Object.entries(filters).map(([name, value]) => [name, value]);
  const days = [...new Set(loaded.data?.items.map(({ day }) => day) ?? [])].sort();
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
              days={days.map((day) => ({
                day,
                value: sumOf(
                  loaded.data!.items.filter((one) => one.day === day),
                  measure,
                ),
              }))}
            />
          ))}
        </div>
      )}
      <Table
        label={sayShared('usage')}
        loaded={loaded}
        keyOf={({ day, embedTenantName }) => `${day} ${embedTenantName}`}
        empty={say('noUsage')}
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

const sumOf = (items: readonly UsageOfDay[], measure: (typeof MEASURES)[number]) =>
  items.reduce((sum, one) => sum + one[measure], 0);

const [WIDTH, HEIGHT] = [240, 60];

/** The table below has the same numbers, so the chart is one picture with a name. */
function Bars({ title, days }: { title: string; days: readonly { day: string; value: number }[] }) {
  const most = Math.max(1, ...days.map(({ value }) => value));
  const step = WIDTH / days.length;
  const total = shownNumber(days.reduce((sum, { value }) => sum + value, 0));
  return (
    <figure class="console-card bars">
      <figcaption>
        {title} <strong>{total}</strong>
      </figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}: ${total}`}
      >
        {days.map(({ day, value }, i) => {
          const height = Math.max(value > 0 ? 2 : 0, (value / most) * HEIGHT);
          return (
            <rect key={day} x={i * step} y={HEIGHT - height} width={Math.max(1, step - 2)} height={height}>
              <title>{`${day}: ${shownNumber(value)}`}</title>
            </rect>
          );
        })}
      </svg>
    </figure>
  );
}

export default consolePage('adminUsage', Usage);
