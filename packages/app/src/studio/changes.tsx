/** What a branch changes against its parent: by meaning, and file by file. */
import { useEffect, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../data/problem.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { Failed, Skeleton } from '../parts/states.tsx';
import { changesOf, type FileChange, FileDiffs } from './diff-view.tsx';
import { loadFiles } from './files.ts';
import type { MeaningChange } from './messages.ts';
import type { StudioProps } from './props.ts';
import { say } from './say.ts';
import type { Studio } from './studio.ts';

export const openChanges = ({ studio }: StudioProps) =>
  openDialog((close) => (
    <Dialog title={say('compare', { name: studio.branch.parentBranch ?? '' })} size="wide" onClose={close}>
      <Changes studio={studio} />
    </Dialog>
  ));

export function Changes({ studio }: { studio: Studio }) {
  const [found, setFound] = useState<{ files: FileChange[]; meanings: MeaningChange[] | null }>();
  const [problem, setProblem] = useState<Problem>();
  const load = () => {
    setProblem(undefined);
    void (async () => {
      const { deploymentId, branch } = studio;
      const before = await loadFiles(deploymentId, branch.parentBranch!);
      const after = new Map([...studio.saved.peek(), ...studio.drafts]);
      const files = changesOf(new Map(before.map(({ path, text }) => [path, text])), after);
      setFound({ files, meanings: await studio.compareWith(before) });
    })().catch((error) => setProblem(problemOf(error)));
  };
  useEffect(load, []);
  if (problem) return <Failed problem={problem} retry={load} />;
  if (!found) return <Skeleton />;
  if (!found.files.length) return <p>{say('nothingChanged')}</p>;
  return (
    <>
      <Meanings changes={found.meanings} />
      <FileDiffs changes={found.files} />
    </>
  );
}

/** `measure orders.revenue: filters changed from … to …`. The keys are words of the modelling language. */
export const Meanings = ({ changes }: { changes: readonly MeaningChange[] | null }) => (
  <section>
    <h3>{say('byMeaning')}</h3>
    {changes === null && <p class="soft">{say('doesNotCompile')}</p>}
    {changes?.length === 0 && <p class="soft">{say('sameMeaning')}</p>}
    <ul class="meanings">
      {changes?.slice(0, 200).map(({ name, what, change, values }) => (
        <li key={`${what} ${name}`}>
          <span class={`mark ${change}`}>{say(change)}</span> {what} <code>{name}</code>
          {values.map(({ key, from, to }) => (
            <p key={key} class="soft from-to">
              {say('fromTo', { key, from: from || say('nothingThere'), to: to || say('nothingThere') })}
            </p>
          ))}
        </li>
      ))}
    </ul>
  </section>
);
