/** What was published: to look at it again, to compare it, and to go on from it. */
import type { Snapshot } from '@oriel/charts';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { type Problem, problemOf } from '../data/problem.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { Skeleton, wordsOf } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { locale } from '../texts/index.ts';
import { describe } from './describe.ts';
import type { Editor } from './editor.ts';
import { SelectField } from './fields.tsx';
import { say } from './say.ts';
import { changesBetween } from './state/changes.ts';
import { type Config, configOf, type Doc, docOf } from './state/doc.ts';

const versionOf = ({ config, reportSnapshots }: { config: object; reportSnapshots: object[] }) => ({
  doc: docOf(config as Config),
  snapshots: reportSnapshots as Snapshot[],
});

function replace(editor: Editor, name: string, restored: Doc) {
  const config = configOf(editor.doc);
  editor.session.change(name, (draft) => {
    for (const key of Object.keys(draft)) delete (draft as Record<string, unknown>)[key];
    Object.assign(draft, restored);
  });
  editor.replaced.value = { config, at: Date.now() };
}

/** The version becomes the draft. The draft before it stays in the list of versions, also after the page is left. */
function restore(editor: Editor, number: number, restored: Doc) {
  replace(editor, say('stepRestore', { number }), restored);
  editor.select([]);
  toast(say('restoredToast', { number }), { undo: () => editor.session.undo() });
}

/** While a version is shown in place of the draft. */
export function ShownVersion({ editor }: { editor: Editor }) {
  const shown = editor.version.value;
  if (!shown) return null;
  const { number, doc } = shown;
  const leave = () => {
    editor.showVersion(undefined);
    // The button that had the focus is gone.
    document.getElementById('content')?.focus();
  };
  return (
    <div class="previewed-as" role="status">
      <span>{say('youSeeVersion', { number })}</span>
      {editor.canEdit && (
        <button
          type="button"
          onClick={() => {
            leave();
            restore(editor, number, doc);
          }}
        >
          {say('restore')}
        </button>
      )}
      <button type="button" onClick={leave}>
        {say('backToDraft')}
      </button>
    </div>
  );
}

export const openVersions = (editor: Editor) =>
  openDialog((close) => <Versions editor={editor} onClose={close} />);

type VersionList = Awaited<ReturnType<typeof api.getDashboardVersions>>;

function Versions({ editor, onClose }: { editor: Editor; onClose(): void }) {
  const [list, setList] = useState<VersionList>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    api.getDashboardVersions(editor.where).then(setList, (error) => setProblem(problemOf(error)));
  }, []);
  /** Compared with the draft, or with the version before. */
  const [compared, setCompared] = useState<{ number: number; lines: string[] }>();
  const configAt = async (versionNumber: number) =>
    docOf((await api.getDashboardVersion({ ...editor.where, versionNumber })).config as Config);
  const compare = (versionNumber: number, other: number | undefined) =>
    void attempt(async () => {
      const [from, to] = [
        await configAt(versionNumber),
        other === undefined ? editor.doc : await configAt(other),
      ];
      setCompared({ number: versionNumber, lines: describe(editor, changesBetween(from, to)) });
    });
  const [other, setOther] = useState('');
  const show = (versionNumber: number) =>
    void attempt(async () => {
      const version = await api.getDashboardVersion({ ...editor.where, versionNumber });
      editor.showVersion({ number: versionNumber, ...versionOf(version) });
      onClose();
    });
  const times = new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'short' });
  const restoreNumber = (versionNumber: number) =>
    void attempt(async () => {
      restore(editor, versionNumber, await configAt(versionNumber));
      onClose();
    });
  return (
    <Dialog title={say('versionsTitle')} size="wide" onClose={onClose}>
      {problem && <p role="alert">{wordsOf(problem)}</p>}
      {!list && !problem && <Skeleton lines={3} />}
      {list?.versions.length === 0 && <p class="soft">{say('noVersions')}</p>}
      {(list?.versions.length ?? 0) > 0 && (
        <SelectField
          label={say('compareWith')}
          value={other}
          options={[
            { value: '', label: say('theDraft') },
            ...list!.versions.map(({ versionNumber }) => ({
              value: String(versionNumber),
              label: say('version', { number: versionNumber }),
            })),
          ]}
          onChange={(chosen) => {
            setOther(chosen);
            setCompared(undefined);
          }}
        />
      )}
      <ol class="versions">
        {editor.replaced.value && editor.canEdit && (
          <li>
            <div class="grow">
              <strong>{say('replacedDraft')}</strong>
              <p class="soft">{times.format(editor.replaced.value.at)}</p>
            </div>
            <button
              type="button"
              onClick={() => {
                replace(editor, say('stepReplaced'), docOf(editor.replaced.peek()!.config));
                editor.select([]);
                onClose();
              }}
            >
              {say('bringBack')}
            </button>
          </li>
        )}
        {list?.versions.map(({ versionNumber, title, note, publishedAt, publishedBy }, i) => (
          <li key={versionNumber}>
            <div class="grow">
              <strong>{say('version', { number: versionNumber })}</strong>
              {title && <span> · {title}</span>}
              {i === 0 && list.isPublished && <span class="tag">{say('isShown')}</span>}
              {note && <p>{note}</p>}
              <p class="soft">
                {say('byAt', {
                  name: publishedBy?.displayName ?? '–',
                  time: times.format(new Date(publishedAt)),
                })}
              </p>
            </div>
            <button type="button" onClick={() => show(versionNumber)}>
              {say('show')}
            </button>
            <button
              type="button"
              aria-expanded={compared?.number === versionNumber}
              onClick={() => compare(versionNumber, other ? Number(other) : undefined)}
            >
              {say('compare')}
            </button>
            {editor.canEdit && (
              <button type="button" onClick={() => restoreNumber(versionNumber)}>
                {say('restore')}
              </button>
            )}
            {compared?.number === versionNumber && (
              <div class="compared" role="status">
                <strong>
                  {say('fromTo', {
                    from: say('version', { number: versionNumber }),
                    to: other ? say('version', { number: other }) : say('theDraft'),
                  })}
                </strong>
                {compared.lines.length === 0 && <p class="soft">{say('alike')}</p>}
                <ul class="changes">
                  {compared.lines.map((line) => (
                    <li key={line}>{line}</li>
                  ))}
                </ul>
              </div>
            )}
          </li>
        ))}
      </ol>
    </Dialog>
  );
}
