/** A first model of chosen tables: keys and joins are proposed, and nothing is written before one says so. */
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { api } from '../data/api.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { addressOf } from '../place.ts';
import { startCompiler } from '../studio/compiler.ts';
import type { Draft, DraftedTable } from '../studio/messages.ts';
import { say } from './say.ts';
import { keyOf, type SourceTable, useTables } from './tables.tsx';

interface Given {
  deploymentId: number;
  source: string;
  chosen: readonly string[];
  onClose(): void;
}

export function DraftModel(given: Given) {
  const { data, problem, reload } = useTables(given.deploymentId, given.source);
  if (!data) return problem ? <Failed problem={problem} retry={reload} /> : <Skeleton />;
  return <Drafting {...given} tables={data.filter((table) => given.chosen.includes(keyOf(table)))} />;
}

const toDrafted = (table: SourceTable): DraftedTable => ({
  schema: table.schema,
  name: table.name,
  columns: table.columns.map(({ name, type }) => ({ name, type })),
  primaryKey: [...table.primaryKey],
  foreignKeys: table.foreignKeys.map((key) => ({
    ...key,
    columns: [...key.columns],
    toColumns: [...key.toColumns],
  })),
});

function Drafting({ deploymentId, source, tables, onClose }: Given & { tables: readonly SourceTable[] }) {
  const { route } = useLocation();
  const [wanted, setWanted] = useState(() => tables.map(toDrafted));
  const [drafts, setDrafts] = useState<readonly Draft[]>([]);
  const [edited, setEdited] = useState<Readonly<Record<string, string>>>({});
  useEffect(() => {
    const compiler = startCompiler();
    void compiler.draft(wanted, source === 'default' ? undefined : source).then((made) => {
      setDrafts(made);
      setEdited({});
      compiler.stop();
    });
    return () => compiler.stop();
  }, [wanted]);
  const change = (table: DraftedTable, next: Partial<DraftedTable>) =>
    setWanted(wanted.map((one) => (one === table ? { ...one, ...next } : one)));
  const write = () =>
    attempt(async () => {
      const { branchName } = await api.startDevMode({ deploymentId, body: {} });
      const files = drafts.map(({ path, text }) => ({ path, content: edited[path] ?? text }));
      await api.updateFiles({ deploymentId, body: { branchName: branchName!, files } });
      toast(say('drafted', { count: files.length }));
      route(
        `${addressOf(deploymentId, 'adminModels')}?branch=${encodeURIComponent(branchName!)}&file=${encodeURIComponent(files[0]!.path)}`,
      );
    });
  return (
    <section aria-labelledby="draft">
      <div class="page-head">
        <div class="grow">
          <h2 id="draft">{say('draftModel')}</h2>
          <p class="soft">{say('draftHint')}</p>
        </div>
        <div class="buttons">
          <button type="button" onClick={onClose}>
            {say('back')}
          </button>
          <button type="button" class="primary" disabled={!drafts.length} onClick={() => void write()}>
            {say('writeDraft', { count: drafts.length })}
          </button>
        </div>
      </div>
      {wanted.map((table) => {
        const draft = drafts.find((one) => one.table === keyOf(table));
        return (
          <details key={keyOf(table)} class="draft" open={wanted.length < 4}>
            <summary>
              <code>{keyOf(table)}</code> <span class="soft">{draft?.path ?? say('notDrafted')}</span>
            </summary>
            <div class="draft-parts">
              <div>
                <label class="field">
                  <span>{say('keyOfRow')}</span>
                  <select
                    value={table.primaryKey[0] ?? ''}
                    onChange={(event) =>
                      change(table, {
                        primaryKey: event.currentTarget.value ? [event.currentTarget.value] : [],
                      })
                    }
                  >
                    <option value="">{say('guessed')}</option>
                    {table.columns.map(({ name }) => (
                      <option key={name} value={name}>
                        {name}
                      </option>
                    ))}
                  </select>
                </label>
                <Joins
                  table={table}
                  all={wanted}
                  onChange={(foreignKeys) => change(table, { foreignKeys })}
                />
              </div>
              {draft && (
                <label class="field">
                  <span>{say('draftText')}</span>
                  <textarea
                    class="code"
                    rows={14}
                    spellcheck={false}
                    value={edited[draft.path] ?? draft.text}
                    onInput={(event) => setEdited({ ...edited, [draft.path]: event.currentTarget.value })}
                  />
                </label>
              )}
            </div>
          </details>
        );
      })}
    </section>
  );
}

function Joins({
  table,
  all,
  onChange,
}: {
  table: DraftedTable;
  all: readonly DraftedTable[];
  onChange(keys: DraftedTable['foreignKeys']): void;
}) {
  const [column, setColumn] = useState(table.columns[0]?.name ?? '');
  const others = all.filter((one) => one !== table);
  const [target, setTarget] = useState('');
  const add = () => {
    const to = others.find((one) => keyOf(one) === target) ?? others[0];
    if (!to) return;
    const toColumn =
      to.primaryKey[0] ?? (to.columns.some(({ name }) => name === 'id') ? 'id' : to.columns[0]!.name);
    onChange([
      ...table.foreignKeys,
      { columns: [column], toSchema: to.schema, toTable: to.name, toColumns: [toColumn] },
    ]);
  };
  return (
    <fieldset class="joins">
      <legend>{say('joins')}</legend>
      <ul>
        {table.foreignKeys.map((key, i) => (
          <li key={i}>
            <code>
              {key.columns.join(', ')} → {key.toSchema}.{key.toTable}.{key.toColumns.join(', ')}
            </code>{' '}
            <button
              type="button"
              class="quiet"
              onClick={() => onChange(table.foreignKeys.filter((other) => other !== key))}
            >
              {say('removeJoin')}
            </button>
          </li>
        ))}
      </ul>
      {others.length > 0 && (
        <div class="buttons">
          <select
            aria-label={say('joinColumn')}
            value={column}
            onChange={(event) => setColumn(event.currentTarget.value)}
          >
            {table.columns.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          <select
            aria-label={say('joinTable')}
            value={target || keyOf(others[0]!)}
            onChange={(event) => setTarget(event.currentTarget.value)}
          >
            {others.map((one) => (
              <option key={keyOf(one)}>{keyOf(one)}</option>
            ))}
          </select>
          <button type="button" onClick={add}>
            {say('addJoin')}
          </button>
        </div>
      )}
    </fieldset>
  );
}
