/** The editor: its bar, the widgets, and the settings of what is selected. */
import { useEffect } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { useCommands } from '../commands.ts';
import { problemOf } from '../data/problem.ts';
import { savers } from '../drafts.ts';
import { useMe } from '../frame/account.ts';
import { Icon, type IconName } from '../parts/icons.tsx';
import { Menu, type MenuItem } from '../parts/menu.tsx';
import { wordsOf } from '../parts/states.tsx';
import { toast } from '../parts/toasts.tsx';
import { addressOf, isEmbedded } from '../place.ts';
import { add, copy, paste } from './actions.ts';
import { Canvas } from './canvas.tsx';
import { Conflicts } from './conflicts.tsx';
import { openPublish } from './dialogs.tsx';
import type { Editor } from './editor.ts';
import { kindText } from './editor.ts';
import { leaveForChart } from './new-chart.ts';
import { Panel } from './panel.tsx';
import { Others } from './presence.tsx';
import { openPreviewAs, PreviewedAs } from './preview-as.tsx';
import { say } from './say.ts';
import { hasQuery } from './server.ts';
import type { Status } from './state/session.ts';
import { openVersions, ShownVersion } from './versions.tsx';

export function EditorView({ editor, workbookName }: { editor: Editor; workbookName: string }) {
  const { session, draft } = editor;
  const { doc } = session;
  const isPreview = editor.isPreview.value;
  const isEmpty = doc.order.length === 0;
  // Before the widgets are drawn: they find their reports and filters on the board.
  draft.show(editor.shownDoc, editor.version.value?.snapshots);
  useLeaving(editor);
  useClipboard(editor);
  useCommands([
    { id: 'undo', title: say('undo'), keys: 'mod+z', run: () => session.undo() },
    { id: 'redo', title: say('redo'), keys: 'mod+y', run: () => session.redo() },
    { id: 'redo-shift', title: say('redo'), keys: 'mod+shift+z', run: () => session.redo() },
    ...(editor.canPublish ? [{ id: 'publish', title: say('publish'), run: () => openPublish(editor) }] : []),
    ...(editor.canEdit ? [{ id: 'versions', title: say('versions'), run: () => openVersions(editor) }] : []),
    {
      id: 'preview',
      title: say(isPreview ? 'edit' : 'preview'),
      run: () => editor.setPreview(!isPreview),
    },
  ]);
  const hasPanel = editor.isPanelOpen.value && !isPreview;
  return (
    <div class={hasPanel ? 'editor with-panel' : 'editor'}>
      <Bar editor={editor} workbookName={workbookName} />
      <PreviewedAs editor={editor} />
      <ShownVersion editor={editor} />
      <div class="editor-columns">
        <div class="editor-main">
          {isEmpty && !isPreview ? <Nothing editor={editor} /> : <Canvas editor={editor} />}
        </div>
        {hasPanel && <Panel editor={editor} />}
      </div>
      <p class="hidden" role="status" aria-live="assertive">
        {editor.announcement.value}
      </p>
      <Conflicts editor={editor} />
    </div>
  );
}

function Bar({ editor, workbookName }: { editor: Editor; workbookName: string }) {
  const { session } = editor;
  const { done, undone, doc } = session.history.value;
  const { deploymentId, workbookId } = editor.where;
  const isPreview = editor.isPreview.value;
  const { data: me } = useMe();
  return (
    <header class="editor-bar">
      <div class="editor-title">
        <a href={addressOf(deploymentId, 'workbook', { workbookId })}>
          {doc.title && doc.title !== workbookName ? workbookName : say('backToWorkbook')}
        </a>
        <h1>{doc.title || workbookName || say('untitled')}</h1>
        <SaveStatus editor={editor} />
        <Others presence={editor.presence} />
      </div>
      <div class="tools" role="toolbar" aria-label={say('dashboard')}>
        {!isPreview && (
          <>
            <Tool
              icon="undo"
              label={done.length ? say('undoStep', { name: done.at(-1)!.name }) : say('undo')}
              isOff={!done.length}
              run={() => session.undo()}
            />
            <Tool
              icon="redo"
              label={undone.length ? say('redoStep', { name: undone.at(-1)!.name }) : say('redo')}
              isOff={!undone.length}
              run={() => session.redo()}
            />
          </>
        )}
        {!isPreview && editor.canEdit && <AddMenu editor={editor} />}
        <button
          type="button"
          class="with-icon"
          title={say('preview')}
          aria-pressed={isPreview}
          onClick={() => editor.setPreview(!isPreview)}
        >
          <Icon name="eye" size={16} />
          <span class="tool-text">{say('preview')}</span>
        </button>
        <div class="segmented" role="group" aria-label={say('device')}>
          {(['desk', 'tablet', 'phone'] as const).map((device) => (
            <button
              key={device}
              type="button"
              aria-pressed={editor.device.value === device}
              onClick={() => {
                editor.device.value = device;
              }}
            >
              {say(`device.${device}`)}
            </button>
          ))}
        </div>
        {isPreview && me?.isAdmin && (
          <button type="button" onClick={() => openPreviewAs(editor)}>
            {say('previewAs')}
          </button>
        )}
        {!isPreview && (
          <Tool
            icon="settings"
            label={say('settings')}
            isPressed={editor.isPanelOpen.value}
            run={() => {
              editor.isPanelOpen.value = !editor.isPanelOpen.peek();
            }}
          />
        )}
        {editor.canEdit && <Tool icon="recent" label={say('versions')} run={() => openVersions(editor)} />}
        {editor.canPublish && (
          <button type="button" class="primary" onClick={() => openPublish(editor)}>
            {say('publish')}
          </button>
        )}
      </div>
    </header>
  );
}

const Tool = ({
  icon,
  label,
  isOff = false,
  isPressed,
  run,
}: {
  icon: IconName;
  label: string;
  isOff?: boolean;
  isPressed?: boolean;
  run(): void;
}) => (
  <button
    type="button"
    class="icon"
    title={label}
    aria-label={label}
    aria-pressed={isPressed}
    disabled={isOff}
    onClick={run}
  >
    <Icon name={icon} />
  </button>
);

const STATUS = {
  saved: 'saved',
  saving: 'saving',
  unsaved: 'unsaved',
  offline: 'offlineStatus',
  failed: 'failedStatus',
  conflict: 'conflictStatus',
} as const satisfies Record<Status, Parameters<typeof say>[0]>;

const SaveStatus = ({ editor }: { editor: Editor }) => {
  const status = editor.session.status.value;
  const problem = status === 'failed' ? wordsOf(problemOf(editor.session.problem.value)) : '';
  return (
    <span class={`save-status ${status}`} role="status">
      {editor.canEdit ? `${say(STATUS[status])}${problem && `: ${problem}`}` : say('readOnly')}
    </span>
  );
};

const PLAIN = ['TEXT', 'FILTER', 'TIME_GRAIN', 'CONTAINER', 'DIVIDER', 'SPACER'] as const;

function addItems(editor: Editor, makeChart: () => void): MenuItem[] {
  const reports = (editor.reports.value ?? []).filter(hasQuery);
  return [
    { label: say('newChart'), run: makeChart },
    ...reports.slice(0, 50).map(({ id, title, name }) => ({
      label: `${kindText('CHART')}: ${title || name}`,
      run: () => add(editor, 'CHART', { reportId: id }, title || name),
    })),
    ...PLAIN.map((type, i) => ({
      label: kindText(type),
      begins: i === 0 && reports.length > 0,
      run: () => add(editor, type),
    })),
    { label: say('picture'), run: () => add(editor, 'TEXT', { image: '' }, say('picture')) },
    // People of the account publish them.
    ...(isEmbedded ? [] : [{ label: kindText('APP'), run: () => add(editor, 'APP') }]),
  ];
}

function AddMenu({ editor }: { editor: Editor }) {
  const { route } = useLocation();
  const makeChart = () => {
    leaveForChart(editor);
    route(addressOf(editor.where.deploymentId, 'explore'));
  };
  return (
    <Menu class="with-icon" items={addItems(editor, makeChart)}>
      <Icon name="plus" size={16} />
      <span class="tool-text">{say('add')}</span>
    </Menu>
  );
}

function Nothing({ editor }: { editor: Editor }) {
  const { deploymentId } = editor.where;
  const reports = editor.reports.value?.filter(hasQuery);
  return (
    <div class="empty">
      <h2>{say('empty')}</h2>
      <p>{say(reports?.length === 0 ? 'emptyNoReports' : 'emptyHint')}</p>
      <div class="actions">
        {reports?.length === 0 && (
          <a class="button" href={addressOf(deploymentId, 'explore')}>
            {say('toExplore')}
          </a>
        )}
        {(reports ?? []).slice(0, 4).map(({ id, title, name }) => (
          <button
            key={id}
            type="button"
            class="with-icon"
            onClick={() => add(editor, 'CHART', { reportId: id }, title || name)}
          >
            <Icon name="plus" size={16} />
            {title || name}
          </button>
        ))}
        <button type="button" class="with-icon" onClick={() => add(editor, 'TEXT')}>
          <Icon name="plus" size={16} />
          {say('text')}
        </button>
      </div>
    </div>
  );
}

/** Saves before the person signs out, and asks before a page is closed with something that is neither saved nor kept in this browser. */
function useLeaving(editor: Editor) {
  useEffect(() => {
    const save = () => editor.session.save();
    savers.add(save);
    const stay = (event: BeforeUnloadEvent) => {
      if (editor.session.isUnsaved) void editor.session.save();
      if (editor.session.isEndangered) event.preventDefault();
    };
    const look = () => {
      if (!document.hidden) void editor.session.refresh().catch(() => {});
    };
    addEventListener('beforeunload', stay);
    document.addEventListener('visibilitychange', look);
    return () => {
      savers.delete(save);
      removeEventListener('beforeunload', stay);
      document.removeEventListener('visibilitychange', look);
    };
  }, [editor]);
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable]') !== null;

/** Widgets are copied as text, so that they can be pasted into another workbook too. */
function useClipboard(editor: Editor) {
  useEffect(() => {
    const onCopy = (event: ClipboardEvent) => {
      const ids = editor.selected.peek();
      if (isTyping(event.target) || !ids.length || !getSelection()?.isCollapsed) return;
      event.preventDefault();
      void copy(editor, ids).then(
        () => toast(say('copiedNote')),
        () => {},
      );
    };
    const onPaste = (event: ClipboardEvent) => {
      if (isTyping(event.target) || editor.isPreview.peek() || !editor.canEdit) return;
      if (paste(editor, event.clipboardData?.getData('text/plain') ?? '')) event.preventDefault();
    };
    document.addEventListener('copy', onCopy);
    document.addEventListener('paste', onPaste);
    return () => {
      document.removeEventListener('copy', onCopy);
      document.removeEventListener('paste', onPaste);
    };
  }, [editor]);
}
