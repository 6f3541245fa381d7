/** The editor of a workbook's dashboard. */
import { useEffect, useState } from 'preact/hooks';
import { api } from '../data/api.ts';
import { type Problem, problemOf } from '../data/problem.ts';
import { keepUnsaved, REPLACED, unsavedDraft } from '../drafts.ts';
import type { PageProps } from '../page-props.ts';
import { Failed, Skeleton } from '../parts/states.tsx';
import { toast } from '../parts/toasts.tsx';
import { isEmbedded } from '../place.ts';
import { describe } from './describe.ts';
import { Editor, type ReplacedDraft } from './editor.ts';
import { placeNewCharts } from './new-chart.ts';
import { say } from './say.ts';
import { configIn, queryApi, reportsOf, type WorkbookKey } from './server.ts';
import type { MergedDraft } from './state/merge.ts';
import type { DraftStorage, UnsavedDraft } from './state/session.ts';
import { EditorView } from './view.tsx';

export const texts = say;

interface OpenedEditor {
  editor: Editor;
  workbookName: string;
}

/** A person who may read the versions may change the draft. Without an answer, the workbook decides. */
const mayEdit = (where: WorkbookKey) =>
  api.getDashboardVersions(where).then(
    () => true,
    (error) => problemOf(error).kind !== 'forbidden',
  );

/** What is kept in this browser until it is saved. Nothing of it is trusted to have the right form. */
function keeperOf(name: string): DraftStorage {
  const { base, mine } = (unsavedDraft(name) ?? {}) as Partial<UnsavedDraft>;
  const isWhole = [base, mine].every((config) => config && typeof config === 'object');
  return {
    kept: isWhole ? { base: base!, mine: mine! } : undefined,
    keep: (kept) => keepUnsaved(name, kept),
  };
}

/** The draft before a restored version waits in this browser, as unsaved changes do. */
function keepReplaced({ replaced }: Editor, name: string) {
  const { config, at } = (unsavedDraft(name) ?? {}) as Partial<ReplacedDraft>;
  if (config && typeof config === 'object' && typeof at === 'number') replaced.value = { config, at };
  replaced.subscribe((kept) => {
    if (kept) keepUnsaved(name, kept);
  });
}

async function open(where: WorkbookKey): Promise<OpenedEditor> {
  const [{ body, etag }, isAllowed] = await Promise.all([api.withHeaders.getWorkbook(where), mayEdit(where)]);
  // The server sends the draft only to people who may change it.
  const canEdit = isAllowed && 'dashboardDraft' in body;
  const name = canEdit && !isEmbedded ? `${where.deploymentId}/${where.workbookId}` : undefined;
  const keeper = name === undefined ? undefined : keeperOf(name);
  const stored = { config: configIn(body), etag };
  let wasTold = false;
  const heard = {
    canEdit,
    merged: ({ theirs, conflicts }: MergedDraft) => {
      // Leave out conflicts, which have their own dialog.
      const taken = theirs.filter(
        ({ path }) => !conflicts.some((one) => one.path.every((key, i) => path[i] === key)),
      );
      if (!taken.length) return;
      const lines = describe(editor, taken);
      const what =
        lines.length > 2
          ? `${lines.slice(0, 2).join(', ')}, ${say('andMore', { count: lines.length - 2 })}`
          : lines.join(', ');
      const ids = new Set(taken.flatMap(({ path }) => (path[0] === 'widgets' ? [path[1]!] : [])));
      const names = editor.presence.namesAt(ids);
      // There is no name for a change by a client that had not opened the widget, such as a script.
      toast(names.length ? say('mergedBy', { what, names: names.join(', ') }) : say('mergedToast', { what }));
    },
    otherTab: () => {
      if (!wasTold) toast(say('otherTab'));
      wasTold = true;
    },
  };
  const editor: Editor = new Editor(where, stored, heard, keeper);
  if (keeper?.kept) toast(say('unsavedToast'));
  if (name !== undefined) keepReplaced(editor, name + REPLACED);
  return { editor, workbookName: body.name };
}

export default function DashboardPage({ params }: PageProps) {
  const where = { deploymentId: Number(params.deploymentId), workbookId: Number(params.workbookId) };
  const [opened, setOpened] = useState<OpenedEditor>();
  const [problem, setProblem] = useState<Problem>();
  const [attempts, setAttempts] = useState(0);
  useEffect(() => {
    let isLeft = false;
    let made: OpenedEditor | undefined;
    setProblem(undefined);
    open(where).then(
      (found) => {
        made = found;
        if (isLeft) return found.editor.stop();
        setOpened(found);
        void load(found.editor);
      },
      (error) => !isLeft && setProblem(problemOf(error)),
    );
    return () => {
      isLeft = true;
      // What is not saved yet is saved while the person goes on elsewhere.
      void made?.editor.session.save().finally(() => made?.editor.stop());
      setOpened(undefined);
    };
  }, [where.deploymentId, where.workbookId, attempts]);
  if (problem) return <Failed problem={problem} retry={() => setAttempts(attempts + 1)} />;
  return opened ? <EditorView {...opened} /> : <Skeleton />;
}

/** What the editor needs beside the draft. Without it, widgets can still be arranged. */
async function load(editor: Editor) {
  const [reports, meta] = await Promise.allSettled([
    reportsOf(editor.where),
    queryApi.meta(editor.where.deploymentId),
  ]);
  editor.reports.value = reports.status === 'fulfilled' ? reports.value : [];
  placeNewCharts(editor);
  if (meta.status === 'fulfilled') editor.cubes.value = meta.value.cubes as never;
}
