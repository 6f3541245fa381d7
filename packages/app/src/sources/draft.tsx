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

interface DraftProps {
  deploymentId: number;
  source: string;
  chosen: readonly string[];
  onClose(): void;
}

export function DraftModel(given: DraftProps) {
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

interface EditedDraft {
  text: string;
  /** The draft that was changed by hand. */
  of: string;
}

function Drafting({
  deploymentId,
  source,
  tables,
  onClose,
}: DraftProps & { tables: readonly SourceTable[] }) {
  const { route } = useLocation();
  const [wanted, setWanted] = useState<readonly DraftedTable[]>([]);
  const [drafts, setDrafts] = useState<readonly Draft[]>([]);
  // By table: what was written by hand stays when a key or a join of any table changes.
  const [edited, setEdited] = useState<Readonly<Record<string, EditedDraft | undefined>>>({});
  useEffect(() => {
    const compiler = startCompiler();
    void compiler.propose(tables.map(toDrafted)).then((proposed) => {
      setWanted(proposed);
      compiler.stop();
    });
    return () => compiler.stop();
  }, []);
  useEffect(() => {
    const compiler = startCompiler();
    void compiler.draft([...wanted], source === 'default' ? undefined : source).then((made) => {
      setDrafts(made);
      compiler.stop();
    });
    return () => compiler.stop();
  }, [wanted]);
  const change = (table: DraftedTable, next: Partial<DraftedTable>) =>
    setWanted(wanted.map((one) => (one === table ? { ...one, ...next } : one)));
  const write = () =>
    attempt(async () => {
      const { branchName } = await api.startDevMode({ deploymentId, body: {} });
      const files = drafts.map(({ table, path, text }) => ({
        path,
        content: edited[table]?.text ?? text,
      }));
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
                <fieldset class="joins">
                  <legend>{say('keyOfRow')}</legend>
                  <div class="key-columns">
                    {table.columns.map(({ name }) => (
                      <label key={name} class="check">
                        <input
                          type="checkbox"
                          checked={table.primaryKey.includes(name)}
                          onChange={() =>
                            change(table, {
                              primaryKey: table.primaryKey.includes(name)
                                ? table.primaryKey.filter((other) => other !== name)
                                : [...table.primaryKey, name],
                            })
                          }
                        />
                        <code>{name}</code>
                      </label>
                    ))}
                  </div>
                  {table.primaryKey.length === 0 && <p class="soft">{say('noKey')}</p>}
                </fieldset>
                <Joins
                  table={table}
                  all={wanted}
                  onChange={(foreignKeys) => change(table, { foreignKeys })}
                />
              </div>
              {draft && (
                <DraftText
                  draft={draft}
                  edited={edited[draft.table]}
                  onChange={(next) => setEdited({ ...edited, [draft.table]: next })}
                />
              )}
            </div>
          </details>
        );
      })}
    </section>
  );
}

/** The text of a cube. If it was changed by hand, the person decides whether a later draft replaces it. */
function DraftText({
  draft: { text },
  edited,
  onChange,
}: {
  draft: Draft;
  edited: EditedDraft | undefined;
  onChange(edited: EditedDraft | undefined): void;
}) {
  const isOld = edited !== undefined && edited.of !== text;
  return (
    <div>
      <label class="field">
        <span>{say('draftText')}</span>
        <textarea
          class="code"
          rows={14}
          spellcheck={false}
          value={edited?.text ?? text}
          onInput={(event) => onChange({ text: event.currentTarget.value, of: edited?.of ?? text })}
        />
      </label>
      {isOld && (
        <p class="studio-note" role="status">
          {say('draftIsOld')}{' '}
          <button type="button" class="quiet" onClick={() => onChange(undefined)}>
            {say('takeNewDraft')}
          </button>
        </p>
      )}
    </div>
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
  const others = all.filter((one) => one !== table);
  const [target, setTarget] = useState('');
  const [columns, setColumns] = useState<readonly string[]>([]);
  const to = others.find((one) => keyOf(one) === target) ?? others[0];
  const toColumns = to ? (to.primaryKey.length ? to.primaryKey : [to.columns[0]!.name]) : [];
  // One table alone is joined with nothing.
  if (!others.length && !table.foreignKeys.length) return null;
  const from = toColumns.map(
    (name, i) =>
      columns[i] ?? (table.columns.find((column) => column.name === name) ?? table.columns[0])!.name,
  );
  const add = () => {
    if (!to) return;
    onChange([
      ...table.foreignKeys,
      { columns: from, toSchema: to.schema, toTable: to.name, toColumns: [...toColumns] },
    ]);
    setColumns([]);
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
            aria-label={say('joinTable')}
            value={to && keyOf(to)}
            onChange={(event) => {
              setTarget(event.currentTarget.value);
              setColumns([]);
            }}
          >
            {others.map((one) => (
              <option key={keyOf(one)}>{keyOf(one)}</option>
            ))}
          </select>
          {toColumns.map((toColumn, i) => (
            <label key={toColumn} class="join-column">
              <select
                aria-label={say('joinColumn')}
                value={from[i]}
                onChange={(event) => setColumns(from.with(i, event.currentTarget.value))}
              >
                {table.columns.map(({ name }) => (
                  <option key={name}>{name}</option>
                ))}
              </select>{' '}
              = <code>{toColumn}</code>
            </label>
          ))}
          <button type="button" onClick={add}>
            {say('addJoin')}
          </button>
        </div>
      )}
    </fieldset>
  );
}
