/** Publishing, versions, and what two people have changed at once. */
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { type Problem, problemOf } from '../data/problem.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { Skeleton, wordsOf } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { isEmbedded } from '../place.ts';
import { locale } from '../texts/index.ts';
import { say as sayApp } from '../texts/say.ts';
import { describe, fieldText, valueText, widgetIn } from './describe.ts';
import type { Editor } from './editor.ts';
import { TextField } from './fields.tsx';
import { say } from './say.ts';
import { changesBetween } from './state/changes.ts';
import { type Config, docOf } from './state/doc.ts';
import type { Conflict } from './state/merge.ts';

const LINES_MAX = 12;

interface Published {
  config: Config | null;
  publicId: string | undefined;
}

async function publishedOf({ where }: Editor): Promise<Published> {
  const { dashboardPublished, publishedDashboard } = await api.getWorkbook(where);
  return {
    config: (dashboardPublished ?? null) as Config | null,
    publicId: (publishedDashboard as { publicId?: string } | null | undefined)?.publicId,
  };
}

export const openPublish = (editor: Editor) =>
  openDialog((close) => <Publish editor={editor} onClose={close} />);

function Publish({ editor, onClose }: { editor: Editor; onClose(): void }) {
  const [published, setPublished] = useState<Published>();
  const [note, setNote] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    publishedOf(editor).then(setPublished, (error) => setProblem(problemOf(error)));
  }, []);
  const lines = published?.config
    ? describe(editor, changesBetween(docOf(published.config), editor.doc))
    : [];

  async function publish() {
    setBusy(true);
    setProblem(undefined);
    try {
      await editor.session.save();
      const body = note.trim() ? { note: note.trim() } : {};
      const { versionNumber } = await api.publishDashboard({ ...editor.where, body });
      toast(say('publishedToast', { number: versionNumber }));
      onClose();
      // Publishing is a change of the workbook: the next save needs its new tag.
      await editor.session.refresh().catch(() => {});
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  }

  return (
    <Dialog title={say('publishTitle')} onClose={onClose}>
      {published ? (
        <section>
          <h3>{say('whatChanges')}</h3>
          {!published.config ? (
            <p class="soft">{say('firstPublication')}</p>
          ) : lines.length === 0 ? (
            <p class="soft">{say('nothingChanges')}</p>
          ) : (
            <ul class="changes">
              {lines.slice(0, LINES_MAX).map((line) => (
                <li key={line}>{line}</li>
              ))}
              {lines.length > LINES_MAX && <li>{say('andMore', { count: lines.length - LINES_MAX })}</li>}
            </ul>
          )}
        </section>
      ) : (
        !problem && <Skeleton lines={2} />
      )}
      <TextField label={say('note')} rows={2} maxLength={1000} value={note} onChange={setNote} />
      {problem && <PublishProblem problem={problem} />}
      {published?.publicId && (
        <PublishedLinks editor={editor} publicId={published.publicId} onClose={onClose} />
      )}
      <div class="dialog-foot">
        <button type="button" onClick={onClose}>
          {sayApp('cancel')}
        </button>
        <button type="button" class="primary" disabled={isBusy} onClick={() => void publish()}>
          {say('publish')}
        </button>
      </div>
    </Dialog>
  );
}

/** Each place that has to be changed first. */
const PublishProblem = ({ problem }: { problem: Problem }) => (
  <div role="alert" class="problem">
    <strong>{say('cannotPublish')}</strong>
    {problem.issues.length > 0 ? (
      <ul class="changes">
        {problem.issues.slice(0, LINES_MAX).map(({ path, message }) => (
          <li key={path + message}>{message}</li>
        ))}
      </ul>
    ) : (
      <p>{wordsOf(problem)}</p>
    )}
  </div>
);

function PublishedLinks({
  editor,
  publicId,
  onClose,
}: {
  editor: Editor;
  publicId: string;
  onClose(): void;
}) {
  const { deploymentId } = editor.where;
  const unpublish = () =>
    void attempt(async () => {
      await api.unpublishDashboard(editor.where);
      toast(say('unpublishedToast'));
      onClose();
      await editor.session.refresh().catch(() => {});
    });
  return (
    <div class="published">
      {!isEmbedded && (
        <a href={`/embed/d/${deploymentId}/dashboard/${publicId}`} target="_blank" rel="noreferrer">
          {say('openPublished')}
        </a>
      )}
      <button type="button" class="quiet bad" title={say('unpublishHint')} onClick={unpublish}>
        {say('unpublish')}
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
  const times = new Intl.DateTimeFormat(locale.value, { dateStyle: 'medium', timeStyle: 'short' });
  const restore = (versionNumber: number) =>
    void attempt(async () => {
      const { config } = await api.getDashboardVersion({ ...editor.where, versionNumber });
      const restored = docOf(config as Config);
      editor.session.change(say('stepRestore', { number: versionNumber }), (draft) => {
        for (const key of Object.keys(draft)) delete (draft as Record<string, unknown>)[key];
        Object.assign(draft, restored);
      });
      editor.select([]);
      toast(say('restoredToast', { number: versionNumber }), { undo: () => editor.session.undo() });
      onClose();
    });
  return (
    <Dialog title={say('versionsTitle')} onClose={onClose}>
      {problem && <p role="alert">{wordsOf(problem)}</p>}
      {!list && !problem && <Skeleton lines={3} />}
      {list?.versions.length === 0 && <p class="soft">{say('noVersions')}</p>}
      <ol class="versions">
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
            {editor.canEdit && (
              <button type="button" onClick={() => restore(versionNumber)}>
                {say('restore')}
              </button>
            )}
          </li>
        ))}
      </ol>
    </Dialog>
  );
}

/** Shown as long as somebody has to decide. It can be closed, and comes back with the next change. */
export function Conflicts({ editor }: { editor: Editor }) {
  const conflicts = editor.session.conflicts.value;
  const [mine, setMine] = useState<ReadonlySet<Conflict>>(new Set());
  if (!conflicts.length) return null;
  const decide = () =>
    editor.session.resolve(
      say('stepResolve'),
      conflicts.filter((one) => mine.has(one)),
    );
  const choose = (conflict: Conflict, isMine: boolean) => {
    const next = new Set(mine);
    if (isMine) next.add(conflict);
    else next.delete(conflict);
    setMine(next);
  };
  return (
    <Dialog title={say('conflictTitle')} onClose={decide}>
      <p>{say('conflictHint')}</p>
      {conflicts.map((conflict) => {
        const { path, mine: own, theirs } = conflict;
        const isWhole = path.length === 2;
        const what =
          path[0] === 'widgets'
            ? say('changeEdited', {
                title: widgetIn(editor, conflict, [own, theirs]),
                field: isWhole ? say('wholeWidget') : fieldText(path),
              })
            : say('changeDashboard', { field: fieldText(path) });
        return (
          <fieldset class="conflict" key={path.join('/')}>
            <legend>{what}</legend>
            {([true, false] as const).map((isMine) => (
              <label key={String(isMine)} class="check">
                <input
                  type="radio"
                  name={path.join('/')}
                  checked={mine.has(conflict) === isMine}
                  onChange={() => choose(conflict, isMine)}
                />
                <span>
                  <strong>{say(isMine ? 'mine' : 'theirs')}</strong>
                  <span class="value">{valueText(editor, path, isMine ? own : theirs)}</span>
                </span>
              </label>
            ))}
          </fieldset>
        );
      })}
      <div class="dialog-foot">
        <button type="button" class="primary" onClick={decide}>
          {say('keepChosen')}
        </button>
      </div>
    </Dialog>
  );
}
