/** Two versions of a file side by side. On a phone they are below each other. */
import { useMemo } from 'preact/hooks';
import { diffRows } from './diff.ts';
import { say } from './say.ts';

export interface FileChange {
  path: string;
  before: string | undefined;
  after: string | undefined;
}

/** What differs between two lists of files, by path. */
export function changesOf(
  before: ReadonlyMap<string, string | undefined>,
  after: ReadonlyMap<string, string | undefined>,
): FileChange[] {
  const paths = [...new Set([...before.keys(), ...after.keys()])].sort();
  return paths
    .filter((path) => before.get(path) !== after.get(path) || before.has(path) !== after.has(path))
    .map((path) => ({ path, before: before.get(path), after: after.get(path) }));
}

export const FileDiffs = ({ changes }: { changes: readonly FileChange[] }) => (
  <div class="diffs">
    {changes.map((change) => (
      <details key={change.path} open={changes.length < 8}>
        <summary>
          <strong>{change.path}</strong> <span class="soft">{say(statusOf(change))}</span>
        </summary>
        <Sides change={change} />
      </details>
    ))}
  </div>
);

const statusOf = ({ before, after }: FileChange) =>
  before === undefined ? 'fileAdded' : after === undefined ? 'fileDeleted' : 'fileChanged';

function Sides({ change: { before = '', after = '', path } }: { change: FileChange }) {
  const rows = useMemo(() => diffRows(before, after), [before, after]);
  return (
    <div class="diff-scroll" tabIndex={0} role="region" aria-label={path}>
      <table class="diff" aria-label={`${say('before')}, ${say('after')}`}>
        <colgroup>
          <col class="number" />
          <col />
          <col class="number" />
          <col />
        </colgroup>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i} class={row.kind}>
              <td class="number">{row.before?.line ?? ''}</td>
              <td class={row.kind === 'same' || !row.before ? '' : 'old'}>
                {row.before && row.kind !== 'same' && <span class="hidden">− </span>}
                {row.kind === 'gap' ? '⋯' : row.before?.text}
              </td>
              <td class="number">{row.after?.line ?? ''}</td>
              <td class={row.kind === 'same' || !row.after ? '' : 'new'}>
                {row.after && row.kind !== 'same' && <span class="hidden">+ </span>}
                {row.after?.text}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
