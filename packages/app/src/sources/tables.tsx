/** The tables of a data source, with columns, types, some rows and how many there are. */
import { useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { Empty, Failed, Skeleton } from '../parts/states.tsx';
import { locale } from '../texts/index.ts';
import { say } from './say.ts';

export type SourceTable = Awaited<ReturnType<typeof api.listDataSourceTables>>['items'][number];

export const useTables = (deploymentId: number, source: string) =>
  useData(`d/${deploymentId}/tables/${source}`, async (signal) => {
    const { items } = await api.listDataSourceTables({ deploymentId, name: source, first: 1000 }, { signal });
    return items;
  });

export const keyOf = ({ schema, name }: { schema: string; name: string }) => `${schema}.${name}`;

export function Tables({
  deploymentId,
  source,
  mayRead,
  mayDraft,
  draft,
}: {
  deploymentId: number;
  source: string;
  mayRead: boolean;
  mayDraft: boolean;
  draft(tables: readonly string[]): void;
}) {
  const [search, setSearch] = useState('');
  const [chosen, choose] = useState<ReadonlySet<string>>(new Set());
  const { data, problem, reload } = useTables(deploymentId, source);
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;
  if (data.length === 0) return <Empty title={say('noTables')} hint={say('noTablesHint')} />;
  const shown = data.filter((table) => keyOf(table).toLowerCase().includes(search.toLowerCase()));
  const toggle = (key: string) => {
    const next = new Set(chosen);
    if (!next.delete(key)) next.add(key);
    choose(next);
  };
  return (
    <section aria-labelledby="tables">
      <div class="page-head">
        <h2 id="tables" class="grow">
          {say('tables', { count: data.length })}
        </h2>
        {mayDraft && (
          <div class="buttons">
            <button type="button" onClick={() => choose(new Set(shown.map(keyOf)))}>
              {say('chooseAll')}
            </button>
            <button type="button" class="primary" disabled={!chosen.size} onClick={() => draft([...chosen])}>
              {say('draftModel')}
            </button>
          </div>
        )}
      </div>
      <label class="field filter">
        <span>{say('findTable')}</span>
        <input type="search" value={search} onInput={(event) => setSearch(event.currentTarget.value)} />
      </label>
      <ul class="source-tables">
        {shown.map((table) => (
          <li key={keyOf(table)}>
            {mayDraft && (
              <input
                type="checkbox"
                aria-label={say('chooseTable', { name: keyOf(table) })}
                checked={chosen.has(keyOf(table))}
                onChange={() => toggle(keyOf(table))}
              />
            )}
            <OneTable deploymentId={deploymentId} source={source} table={table} mayRead={mayRead} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function OneTable({
  deploymentId,
  source,
  table,
  mayRead,
}: {
  deploymentId: number;
  source: string;
  table: SourceTable;
  mayRead: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="grow" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <code>{keyOf(table)}</code>{' '}
        <span class="soft">{say('columns', { count: table.columns.length })}</span>
      </summary>
      {isOpen && (
        <>
          <ul class="source-columns">
            {table.columns.map(({ name, nativeType, isNullable }) => (
              <li key={name}>
                <code>{name}</code>{' '}
                <span class="soft">
                  {nativeType} {table.primaryKey.includes(name) && say('key')} {isNullable && say('nullable')}
                </span>
              </li>
            ))}
          </ul>
          {mayRead && <Sample deploymentId={deploymentId} source={source} table={table} />}
        </>
      )}
    </details>
  );
}

function Sample({
  deploymentId,
  source,
  table,
}: {
  deploymentId: number;
  source: string;
  table: SourceTable;
}) {
  const { data, problem, reload } = useData(`d/${deploymentId}/sample/${source}/${keyOf(table)}`, (signal) =>
    api.sampleDataSourceTable(
      { deploymentId, name: source, schema: table.schema, table: table.name },
      { signal },
    ),
  );
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton lines={3} />;
  return (
    <>
      <p class="soft">
        {data.rowCount == null
          ? say('countUnknown')
          : say('rowCount', { count: data.rowCount.toLocaleString(locale.value) })}
      </p>
      <div
        class="diff-scroll"
        tabIndex={0}
        role="region"
        aria-label={say('sampleOf', { name: keyOf(table) })}
      >
        <table class="items">
          <thead>
            <tr>
              {data.columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.rows.map((row, i) => (
              <tr key={i}>
                {row.map((value, j) => (
                  <td key={j}>{value ?? ''}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
