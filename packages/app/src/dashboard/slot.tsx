/** A widget in the grid of the editor: selected, moved and resized by pointer, keys or menu, and drawn as viewers get it. */
import { type Widget as DrawnWidget, visibilityOf, WidgetView } from '@oriel/charts';
import { Component } from 'preact';
import { useData } from '../data/cache.ts';
import { Icon } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { toast } from '../parts/toasts.tsx';
import { copy, duplicate, openSettings, pick, remove, selectAll, stepAll, stretchAll } from './actions.ts';
import type { Drag } from './drag.ts';
import type { Editor } from './editor.ts';
import { kindText } from './editor.ts';
import type { Item } from './grid/grid.ts';
import { OpenBy } from './presence.tsx';
import { say } from './say.ts';
import { applicationKey, findApplication } from './server.ts';
import { isSame } from './state/changes.ts';
import type { Widget } from './state/doc.ts';

interface SlotProps {
  editor: Editor;
  widget: Widget;
  place: Item;
  isStacked: boolean;
  isSelected: boolean;
  isDragged: boolean;
  /** The names of the controls that should reach this chart and cannot. */
  unreachedBy: readonly string[] | undefined;
  drag: Drag;
}

const ARROWS = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const;

/** A slot of the grid. It is drawn again only if something of its own changes: a drag must not draw all widgets. */
export class Slot extends Component<SlotProps> {
  override shouldComponentUpdate(next: SlotProps) {
    const { props } = this;
    return Object.keys(next).some((key) => {
      const [before, after] = [props[key as keyof SlotProps], next[key as keyof SlotProps]];
      return key === 'place' || key === 'unreachedBy' ? !isSame(before, after) : before !== after;
    });
  }
  render(props: SlotProps) {
    return <SlotView {...props} />;
  }
}

function SlotView({ editor, widget, place, isStacked, isSelected, isDragged, unreachedBy, drag }: SlotProps) {
  const { id, type } = widget;
  const { x, y, w, h } = place;
  const title = editor.titleOf(widget);
  const selection = () => (isSelected ? editor.selected.peek() : [id]);

  function onKeyDown(event: KeyboardEvent) {
    if (event.target !== event.currentTarget) return;
    const arrow = ARROWS[event.key as keyof typeof ARROWS];
    const isMod = event.ctrlKey || event.metaKey;
    if (arrow && !isMod && !event.altKey) {
      const mirrored = { left: 'right', right: 'left', up: 'up', down: 'down' } as const;
      const direction =
        getComputedStyle(document.documentElement).direction === 'rtl' ? mirrored[arrow] : arrow;
      (event.shiftKey ? stretchAll : stepAll)(editor, id, selection(), direction);
    } else if (event.key === 'Enter') {
      openSettings(editor, id);
    } else if (event.key === ' ') pick(editor, id);
    else if (isMod && event.key === 'a') selectAll(editor, id);
    else if (event.key === 'Delete' || event.key === 'Backspace') remove(editor, selection());
    else if (event.key === 'Escape') editor.select([]);
    else if (isMod && event.key === 'd') duplicate(editor, selection());
    else return;
    event.preventDefault();
  }

  return (
    <div
      class={['slot', isSelected && 'selected', isDragged && 'dragged'].filter(Boolean).join(' ')}
      data-widget={id}
      role="group"
      tabIndex={0}
      aria-label={say('place', { title, kind: kindText(type), x: x + 1, y: y + 1, w, h })}
      aria-describedby="canvas-help"
      aria-current={isSelected ? 'true' : undefined}
      style={
        isStacked
          ? { minHeight: type === 'CHART' || type === 'APP' ? `${Math.min(h * 76, 380)}px` : 'auto' }
          : { gridColumn: `${x + 1} / span ${w}`, gridRow: `${y + 1} / span ${h}` }
      }
      onKeyDown={onKeyDown}
      onFocus={(event) => {
        const isOwn = event.target === event.currentTarget;
        if (isOwn && !editor.isPicking && !editor.selected.peek().includes(id)) editor.select([id]);
      }}
      onClick={(event) => {
        if (!(event.shiftKey || event.ctrlKey || event.metaKey)) return editor.select([id]);
        const others = editor.selected.peek().filter((one) => one !== id);
        editor.select(isSelected ? others : [...others, id]);
      }}
      onPointerDown={(event) => {
        // Before the focus comes, which selects.
        if (event.shiftKey || event.ctrlKey || event.metaKey) editor.isPicking = true;
        drag.begin(event, id, 'move');
      }}
    >
      <OpenBy presence={editor.presence} widgetId={id} />
      <Marks widget={widget} unreachedBy={unreachedBy} />
      {type === 'APP' && <ApplicationMark editor={editor} publicId={widget.config?.publicId} />}
      <WidgetCell widget={widget} revision={editor.draft.revision.value} editor={editor} />
      {editor.canEdit && (
        <>
          <div class="slot-tools">
            <span class="grip" aria-hidden="true">
              <Icon name="grip" size={16} />
            </span>
            <SlotMenu editor={editor} id={id} title={title} selection={selection} />
          </div>
          {!isStacked && (
            // Keys and the menu do the same.
            <div
              class="slot-corner"
              aria-hidden="true"
              onPointerDown={(event) => {
                event.stopPropagation();
                drag.begin(event, id, 'resize');
              }}
            />
          )}
        </>
      )}
    </div>
  );
}

/** What viewers do not see: that a control is hidden from them, and what does not reach a chart. */
function Marks({ widget, unreachedBy }: { widget: Widget; unreachedBy: readonly string[] | undefined }) {
  const visibility = widget.type === 'FILTER' ? visibilityOf(widget as DrawnWidget) : 'visible';
  const names = unreachedBy?.join(', ');
  if (names) return <Mark icon="warning" text={say('notReachedBy', { names })} />;
  if (visibility === 'visible') return null;
  return <Mark icon={visibility === 'hidden' ? 'hidden' : 'lock'} text={say(`visibility.${visibility}`)} />;
}

/** That an application was not published, or not any more: viewers would see a failure. */
function ApplicationMark({ editor: { where }, publicId }: { editor: Editor; publicId: unknown }) {
  const named = typeof publicId === 'string' ? publicId : undefined;
  const { data } = useData(named ? applicationKey(where, named) : null, () => findApplication(where, named!));
  return data === null ? <Mark icon="warning" text={say('applicationGone')} /> : null;
}

const Mark = ({ icon, text }: { icon: 'warning' | 'hidden' | 'lock'; text: string }) => (
  <span
    class={icon === 'warning' ? 'slot-mark warns' : 'slot-mark'}
    role="img"
    aria-label={text}
    title={text}
  >
    <Icon name={icon} size={14} />
  </span>
);

function SlotMenu({
  editor,
  id,
  title,
  selection,
}: {
  editor: Editor;
  id: string;
  title: string;
  selection(): readonly string[];
}) {
  const moves = [
    ['moveUp', 'up'],
    ['moveDown', 'down'],
    ['moveLeft', 'left'],
    ['moveRight', 'right'],
  ] as const;
  const sizes = [
    ['wider', 'right'],
    ['narrower', 'left'],
    ['taller', 'down'],
    ['shorter', 'up'],
  ] as const;
  return (
    <Menu
      label={say('widgetOptions', { title })}
      items={[
        ...moves.map(([key, direction]) => ({
          label: say(key),
          run: () => stepAll(editor, id, selection(), direction),
        })),
        ...sizes.map(([key, direction], i) => ({
          label: say(key),
          begins: i === 0,
          run: () => stretchAll(editor, id, selection(), direction),
        })),
        { label: say('settings'), begins: true, run: () => openSettings(editor, id) },
        { label: say('duplicate'), run: () => duplicate(editor, selection()) },
        {
          label: say('copy'),
          run: () =>
            void copy(editor, selection()).then(
              () => toast(say('copiedNote')),
              () => {},
            ),
        },
        { label: say('remove'), isDangerous: true, begins: true, run: () => remove(editor, selection()) },
      ]}
    >
      <Icon name="more" size={16} />
    </Menu>
  );
}

interface WidgetCellProps {
  widget: Widget;
  revision: number;
  editor: Editor;
}

/** Drawn again if the widget or what it is drawn from has changed, and not for each place on the way of a drag. */
class WidgetCell extends Component<WidgetCellProps> {
  override shouldComponentUpdate(next: WidgetCellProps) {
    const { widget, revision } = this.props;
    return next.widget.config !== widget.config || next.revision !== revision;
  }
  render({ widget, editor }: WidgetCellProps) {
    return (
      // What is in it can be used in the preview. Here a click is for the widget.
      <div class={`cell ${widget.type.toLowerCase()}`} inert>
        <Content widget={widget} editor={editor} />
      </div>
    );
  }
}

function Content({ widget, editor }: { widget: Widget; editor: Editor }) {
  const config = (widget.config ?? {}) as Record<string, unknown>;
  const note = noteOf(widget, config);
  if (note) return <div class="placeholder">{note}</div>;
  const problem = problemOf(editor, config.reportId);
  if (widget.type === 'CHART' && problem)
    return (
      <div class="card placeholder">
        <strong>{editor.titleOf(widget)}</strong>
        <span>{problem}</span>
      </div>
    );
  return <WidgetView widget={widget as DrawnWidget} />;
}

/** Authors are told why a report cannot be drawn; viewers are not. */
const problemOf = (editor: Editor, reportId: unknown) =>
  editor.draft.board.dashboard?.reportSnapshots.find((snapshot) => snapshot.reportId === reportId)?.meta
    ?.problem;

function noteOf({ type }: Widget, config: Record<string, unknown>): string | undefined {
  if (type === 'SPACER') return say('spacer');
  if (type === 'TEXT' && config.image !== undefined) return config.image ? undefined : say('choosePicture');
  if (type === 'TEXT' && !String(config.markdown ?? '').trim()) return say('emptyText');
  if (type === 'APP' && !config.publicId) return say('chooseApplication');
  if (type === 'CHART' && !config.reportId) return say('chooseReport');
  if ((type === 'FILTER' || type === 'TIME_GRAIN') && !config.member) return say('chooseMember');
  return undefined;
}
