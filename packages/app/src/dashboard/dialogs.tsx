/** Publishing, and what it changes for viewers. */
import type { Snapshot } from '@oriel/charts';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { invalidate } from '../data/cache.ts';
import { type Problem, problemOf } from '../data/problem.ts';
import { Dialog, openDialog } from '../parts/dialog.tsx';
import { Skeleton, wordsOf } from '../parts/states.tsx';
import { attempt, toast } from '../parts/toasts.tsx';
import { isEmbedded } from '../place.ts';
import { say as sayApp } from '../texts/say.ts';
import { describe } from './describe.ts';
import type { Editor } from './editor.ts';
import { TextField } from './fields.tsx';
import { say } from './say.ts';
import { applicationKey, findApplication, previewsOf } from './server.ts';
import { changesBetween, isSame } from './state/changes.ts';
import { type Config, docOf, widgetsOf } from './state/doc.ts';

const LINES_MAX = 12;

interface PublishedState {
  config: Config | null;
  publicId: string | undefined;
  /** The names of the reports that have changed since. */
  changedReports: string[];
  /** The names of the widgets whose application was not published, or not any more. */
  withoutApplication: string[];
}

async function withoutApplication(editor: Editor): Promise<string[]> {
  // Their cards are marked too.
  invalidate(applicationKey(editor.where));
  const named = widgetsOf(editor.doc).flatMap((widget) =>
    widget.type === 'APP' && typeof widget.config?.publicId === 'string'
      ? [{ widget, publicId: widget.config.publicId }]
      : [],
  );
  const gone = new Set<string>();
  await Promise.all(
    [...new Set(named.map(({ publicId }) => publicId))].map(async (publicId) => {
      // A failed request does not count as a missing application, and does not hide the other changes.
      const isThere = await findApplication(editor.where, publicId).then(Boolean, () => true);
      if (!isThere) gone.add(publicId);
    }),
  );
  const without = named.filter(({ publicId }) => gone.has(publicId));
  return [...new Set(without.map(({ widget }) => editor.titleOf(widget)))];
}

async function publishedOf(editor: Editor): Promise<PublishedState> {
  const { where, draft } = editor;
  const { dashboardPublished, publishedDashboard } = await api.getWorkbook(where);
  const { publicId, reportSnapshots = [] } = (publishedDashboard ?? {}) as {
    publicId?: string;
    reportSnapshots?: Snapshot[];
  };
  const used = new Set(
    ((dashboardPublished ?? {}) as Config).widgets?.flatMap(({ config }) => config?.reportId ?? []),
  );
  const ids = reportSnapshots.map(({ reportId }) => reportId).filter((id) => used.has(id));
  // As they would be published now: other people may have changed them since the editor was opened.
  const now = ids.length ? (await previewsOf(where, ids)).snapshots : [];
  draft.reload();
  const changedReports = now
    .filter((report) => {
      const before = reportSnapshots.find(({ reportId }) => reportId === report.reportId);
      return before && !isSame(drawnFrom(before), drawnFrom(report));
    })
    .map(({ title, name }) => title || name || '');
  return {
    config: (dashboardPublished ?? null) as Config | null,
    publicId,
    changedReports,
    withoutApplication: await withoutApplication(editor),
  };
}

/** What viewers could see of a change. */
const drawnFrom = ({
  name,
  title,
  description,
  kind,
  spec,
  meta,
  fillMissingRows,
  periodComparisons,
  preferences,
}: Snapshot) => ({
  ...{ name, title, description, kind, spec, query: meta?.query },
  ...{ fillMissingRows, periodComparisons, preferences },
});

export const openPublish = (editor: Editor) =>
  openDialog((close) => <Publish editor={editor} onClose={close} />);

function Publish({ editor, onClose }: { editor: Editor; onClose(): void }) {
  const [published, setPublished] = useState<PublishedState>();
  const [note, setNote] = useState('');
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    publishedOf(editor).then(setPublished, (error) => setProblem(problemOf(error)));
  }, []);
  const lines = published?.config
    ? [
        ...describe(editor, changesBetween(docOf(published.config), editor.doc)),
        ...published.changedReports.map((title) => say('changeReport', { title })),
      ]
    : [];

  async function publish() {
    setBusy(true);
    setProblem(undefined);
    try {
      await editor.session.save();
      const body = note.trim() ? { note: note.trim() } : {};
      const { versionNumber } = await api.publishDashboard({ ...editor.where, body });
      // Other pages say whether there is a dashboard.
      invalidate(`d/${editor.where.deploymentId}/`);
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
      {published?.withoutApplication.map((title) => (
        <p key={title} role="alert" class="problem">
          {say('applicationGoneFrom', { title })}
        </p>
      ))}
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
      invalidate(`d/${deploymentId}/`);
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
