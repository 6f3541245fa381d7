/** Conflicts of a merge, solved in the page: by place, by file, or by writing the text. */
import type { OrielError } from '@oriel/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Problem, problemOf } from '../data/problem.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import {
  type ConflictFile,
  type Decision,
  decidedFile,
  loadConflicts,
  resolveConflicts,
  UNDECIDED,
} from './conflict-files.ts';
import { say } from './say.ts';
import type { Studio } from './studio.ts';
import { type Choice, writeMerged } from './three-way.ts';

export function Conflicts({
  studio,
  conflicts,
  onSolved,
}: {
  studio: Studio;
  conflicts: readonly OrielError['conflicts'][number][];
  onSolved(): void;
}) {
  const { deploymentId, branch } = studio;
  const names = { branch: branch.name, parent: branch.parentBranch! };
  const [files, setFiles] = useState<readonly ConflictFile[]>();
  const [decisions, setDecisions] = useState<Readonly<Record<string, Decision>>>({});
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const load = () => {
    setProblem(undefined);
    loadConflicts(deploymentId, branch, conflicts).then(setFiles, (error) => setProblem(problemOf(error)));
  };
  useEffect(load, []);
  if (problem) return <Failed problem={problem} retry={load} />;
  if (!files) return <Skeleton />;
  const decided = files.flatMap((conflict) => {
    const file = decidedFile(conflict, decisions[conflict.path] ?? UNDECIDED, names);
    return file ? [{ conflict, file }] : [];
  });
  const waiting = files.length - decided.length;
  const solve = () =>
    attempt(async () => {
      setBusy(true);
      try {
        const message = `Merge branch '${names.parent}' into ${names.branch}`;
        const again = await resolveConflicts(deploymentId, branch, decided, message);
        if (again.length === 0) return onSolved();
        // What was decided is the branch's side now, so that nothing of it is lost.
        setFiles(files.map((file) => again.find(({ path }) => path === file.path) ?? file));
        setDecisions(
          Object.fromEntries(
            Object.entries(decisions).filter(([path]) => again.every((one) => one.path !== path)),
          ),
        );
        toast(say('parentMoved', { name: names.parent }));
      } finally {
        setBusy(false);
      }
    });
  return (
    <>
      <p>{say('conflictHint', { name: names.parent })}</p>
      {files.map((file) => (
        <ConflictOfFile
          key={file.path}
          studio={studio}
          file={file}
          names={names}
          decision={decisions[file.path] ?? UNDECIDED}
          decide={(decision) => setDecisions((all) => ({ ...all, [file.path]: decision }))}
        />
      ))}
      <div class="dialog-foot">
        <span class="grow soft" role="status">
          {say(waiting ? 'undecided' : 'allDecided', { count: waiting })}
        </span>
        <button type="button" class="primary" disabled={isBusy || waiting > 0} onClick={() => void solve()}>
          {say('solve')}
        </button>
      </div>
    </>
  );
}

function ConflictOfFile({
  studio,
  file,
  names,
  decision,
  decide,
}: {
  studio: Studio;
  file: ConflictFile;
  names: { branch: string; parent: string };
  decision: Decision;
  decide(decision: Decision): void;
}) {
  const { path, pieces } = file;
  const { choices, edited, whole } = decision;
  const places = pieces?.filter(({ kind }) => kind === 'conflict') ?? [];
  const text = pieces && (edited ?? writeMerged(pieces, choices, names));
  return (
    <section>
      <h3>{path}</h3>
      <div class="buttons" role="group" aria-label={say('wholeFileOf', { path })}>
        {(['branch', 'parent'] as const).map((side) => (
          <button
            key={side}
            type="button"
            aria-pressed={whole === side}
            onClick={() => decide({ ...decision, whole: whole === side ? undefined : side })}
          >
            {say(file[side] ? 'keepFileOf' : 'keepDeletionOf', { name: names[side] })}
          </button>
        ))}
        {pieces && edited === undefined && !whole && (
          <button type="button" onClick={() => decide({ ...decision, edited: text })}>
            {say('editMerged')}
          </button>
        )}
        {edited !== undefined && !whole && (
          <button type="button" onClick={() => decide({ ...decision, edited: undefined })}>
            {say('backToPlaces')}
          </button>
        )}
      </div>
      {!whole && edited !== undefined && (
        <MergedText
          studio={studio}
          path={path}
          text={edited}
          onChange={(next) => decide({ choices, edited: next })}
        />
      )}
      {!whole &&
        edited === undefined &&
        places.map((place, i) => (
          <fieldset key={i} class="merge-place">
            <legend>{say('place', { number: i + 1, count: places.length })}</legend>
            {(['branch', 'parent', 'both'] as const).map((choice) => (
              <label key={choice}>
                <input
                  type="radio"
                  name={`${path} ${i}`}
                  checked={choices.get(i) === choice}
                  onChange={() => decide({ choices: new Map<number, Choice>([...choices, [i, choice]]) })}
                />
                {choice === 'both' ? say('keepBoth') : names[choice]}
                {choice !== 'both' && <pre>{place[choice] || say('noLines')}</pre>}
              </label>
            ))}
          </fieldset>
        ))}
    </section>
  );
}

/** The merged text in the editor of the studio. Lines between markers wait for a decision. */
function MergedText({
  studio,
  path,
  text,
  onChange,
}: {
  studio: Studio;
  path: string;
  text: string;
  onChange(text: string): void;
}) {
  const host = useRef<HTMLDivElement>(null);
  const latest = useRef(onChange);
  latest.current = onChange;
  useEffect(() => {
    let stop = () => {};
    let isOver = false;
    void import('./codemirror.ts').then(({ createEditor }) => {
      if (isOver) return;
      const editor = createEditor({
        root: host.current!.attachShadow({ mode: 'open' }),
        label: say('mergedText', { path }),
        known: () => ({
          schema: studio.schema.peek(),
          cubes: studio.cubes.peek(),
          tables: studio.tables.peek(),
        }),
        onChange: (_, next) => latest.current(next),
        onSave: () => {},
      });
      editor.open(path, text, false);
      stop = editor.stop;
    });
    return () => {
      isOver = true;
      stop();
    };
  }, []);
  return (
    <>
      <p class="soft">{say('markersHint')}</p>
      <div ref={host} class="studio-editor merged-text" />
    </>
  );
}
