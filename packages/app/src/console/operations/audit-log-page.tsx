/** The audit log: found by filters, each entry with what was there before and after, and exported as it is shown. */
import { api } from '../../data/api.ts';
import { useData } from '../../data/cache.ts';
import { Dialog, openDialog } from '../../parts/dialog.tsx';
import { FilterChoice, FilterField, Filters } from '../parts/fields.tsx';
import { shownTime, useFilters, useList } from '../parts/lists.ts';
import { Table } from '../parts/table.tsx';
import { UserField } from '../parts/user-field.tsx';
import { say as sayShared, withShared } from '../say.ts';
import { type ConsolePageProps, consolePage, PageHead } from '../shell.tsx';
import { say } from './say.ts';

export const texts = withShared(say);

type Entry = Awaited<ReturnType<typeof api.listAuditLog>>['items'][number];

const FILTERS = [
  'operation',
  'resourceType',
  'resourceId',
  'actorId',
  'apiKeyId',
  'embedTenantName',
  'requestId',
  'from',
  'to',
] as const;

/** As the API takes them: days of this browser become times, and a number that is none finds nothing. */
function wanted(filters: Partial<Record<(typeof FILTERS)[number], string>>) {
  const { actorId, apiKeyId, from, to, ...texts } = filters;
  const number = (name: string, text = '') => (/^\d{1,15}$/.test(text) ? { [name]: Number(text) } : {});
  const timeOf = (day: string) => new Date(`${day}T00:00:00`).toISOString();
  return {
    ...texts,
    ...number('actorId', actorId),
    ...number('apiKeyId', apiKeyId),
    ...(from ? { from: timeOf(from) } : {}),
    ...(to ? { to: timeOf(to) } : {}),
  };
}

function AuditLog({ rights: { isAdmin } }: ConsolePageProps) {
  const [filters, change] = useFilters(FILTERS);
  const query = wanted(filters);
  const list = useList(`audit-log/${JSON.stringify(query)}`, (first, signal) =>
    api.listAuditLog({ ...query, first }, { signal }),
  );
  const { data: keys = [] } = useData(
    isAdmin ? 'api-keys/names' : null,
    async (signal) => (await api.listApiKeys({ first: 1000 }, { signal })).items,
  );
  const { data: people } = useData(isAdmin ? 'users/names' : null, async (signal) => {
    const { items } = await api.listUsers({ first: 1000 }, { signal });
    return new Map(items.map(({ id, firstName, username }) => [id, firstName || username]));
  });
  const userOf = ({ userId }: Entry) => people?.get(userId ?? 0) ?? userId ?? '–';
  const keyOf = ({ apiKeyId }: Entry) => keys.find(({ id }) => id === apiKeyId)?.name ?? apiKeyId ?? '–';
  const asTexts = Object.entries(query).map(([name, value]) => [name, String(value)]);
  const labels = {
    operation: say('operation'),
    resourceType: say('resourceType'),
    resourceId: say('resource'),
    actorId: say(isAdmin ? 'user' : 'userNumber'),
    apiKeyId: say('apiKey'),
    embedTenantName: say('tenant'),
    requestId: say('request'),
    from: say('from'),
    to: say('until'),
  };
  return (
    <>
      <PageHead title={sayShared('auditLog')} hint={say('auditHint')}>
        <a
          class="button"
          href={`/api/v1/audit-log/export?${new URLSearchParams(asTexts)}`}
          download="audit-log.ndjson"
        >
          {say('exportEntries')}
        </a>
      </PageHead>
      <Filters>
        {FILTERS.map((name) => {
          const field = {
            label: labels[name],
            value: filters[name] ?? '',
            onChange: (value: string) => change({ [name]: value }),
          };
          // Only admins may list people and keys.
          if (isAdmin && name === 'actorId') return <UserField key={name} isFilter {...field} />;
          if (isAdmin && name === 'apiKeyId')
            return (
              <FilterChoice
                key={name}
                {...field}
                options={[
                  { value: '', label: sayShared('all') },
                  ...keys.map(({ id, name: title }) => ({ value: String(id), label: title })),
                ]}
              />
            );
          return (
            <FilterField key={name} type={name === 'from' || name === 'to' ? 'date' : 'search'} {...field} />
          );
        })}
      </Filters>
      <Table
        label={sayShared('auditLog')}
        loaded={list}
        more={list.more}
        keyOf={({ id }) => id}
        empty={say('noEntries')}
        columns={[
          { title: say('time'), cell: ({ createdAt }) => shownTime(createdAt) },
          { title: say('operation'), cell: ({ operation }) => operation },
          { title: say('resource'), cell: ({ resourceType, resourceId }) => `${resourceType} ${resourceId}` },
          {
            title: say('user'),
            isWide: true,
            cell: userOf,
          },
          { title: say('address'), isWide: true, cell: ({ ip }) => ip ?? '–' },
          {
            title: sayShared('details'),
            isActions: true,
            cell: (entry) => (
              <button
                type="button"
                class="quiet"
                onClick={() =>
                  openDialog((close) => (
                    <EntryDialog entry={entry} user={userOf(entry)} apiKey={keyOf(entry)} onClose={close} />
                  ))
                }
              >
                {sayShared('details')}
              </button>
            ),
          },
        ]}
      />
    </>
  );
}

const shown = (value: unknown) =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value, null, 1);

function EntryDialog({
  entry,
  user,
  apiKey,
  onClose,
}: {
  entry: Entry;
  user: string | number;
  apiKey: string | number;
  onClose(): void;
}) {
  const { before, after } = entry;
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const facts: [string, string | number | null][] = [
    [say('time'), shownTime(entry.createdAt)],
    [say('resource'), `${entry.resourceType} ${entry.resourceId}`],
    [say('user'), user],
    [say('apiKey'), apiKey],
    [say('address'), entry.ip],
    [say('request'), entry.requestId],
  ];
  return (
    <Dialog title={entry.operation} size="wide" onClose={onClose}>
      <dl class="facts">
        {facts.map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value ?? '–'}</dd>
          </>
        ))}
      </dl>
      {names.length === 0 ? (
        <p class="soft">{say('noFields')}</p>
      ) : (
        <div class="console-table">
          <table class="items">
            <thead>
              <tr>
                <th scope="col">{say('field')}</th>
                <th scope="col">{say('before')}</th>
                <th scope="col">{say('after')}</th>
              </tr>
            </thead>
            <tbody>
              {names.map((name) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td class="removed">{shown(before?.[name])}</td>
                  <td class="added">{shown(after?.[name])}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Dialog>
  );
}

export default consolePage('adminAuditLog', AuditLog);
