/** The widgets in their grid, to be selected, moved and resized. They are drawn as viewers get them. */
import { applyTokens, BoardView, type Widget as DrawnWidget, SharedContext, WidgetView } from '@oriel/charts';
import { Component } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import { Menu } from '../parts/menu.tsx';
import { toast } from '../parts/toasts.tsx';
import { copy, duplicate, openSettings, remove, step, stretch } from './actions.ts';
import { useDrag } from './drag.ts';
import type { Editor } from './editor.ts';
import { kindText } from './editor.ts';
import { itemsOf } from './edits.ts';
import { COLUMNS, type Item } from './grid/grid.ts';
import { OpenBy } from './presence.tsx';
import { say } from './say.ts';
import { type Widget, widgetsOf } from './state/doc.ts';
import { topLevelOf } from './state/widgets.ts';

const ROW_HEIGHT = 60;
const MARGIN = 16;
/** Below this, widgets stand below each other, as in the page of viewers. */
const STACKED_BELOW = 800;

const drill = () => {};

export function Canvas({ editor }: { editor: Editor }) {
  const frame = useRef<HTMLDivElement>(null);
  const { doc } = editor;
  const { board, revision } = editor.draft;
  const isStacked = useNarrow();
  revision.value;
  useLayoutEffect(() => applyTokens(board.tokens, frame.current!), [board.tokens]);
  const drag = useDrag(editor, frame);
  if (editor.isPreview.value)
    return (
      <div class="board" ref={frame}>
        <BoardView key={board.viewers} board={board} widgets={topLevelOf(widgetsOf(doc)) as DrawnWidget[]} />
      </div>
    );
  const widgets = topLevelOf(widgetsOf(doc));
  const layout = editor.dragged.value?.layout ?? itemsOf(widgets);
  const places = new Map(layout.map((item) => [item.id, item]));
  const sorted = widgets.toSorted((a, b) => {
    const [one, other] = [places.get(a.id)!, places.get(b.id)!];
    return one.y - other.y || one.x - other.x;
  });
  const rowHeight = Number(doc.layout?.rowHeight) || ROW_HEIGHT;
  const gap = doc.layout?.margin?.[0] ?? MARGIN;
  return (
    <div class="board" ref={frame}>
      <p id="canvas-help" class="hidden">
        {say('canvasHelp')}
      </p>
      <SharedContext.Provider value={{ board, drill }}>
        <div
          class={isStacked ? 'grid canvas stacked' : 'grid canvas'}
          role="group"
          aria-label={say('canvas')}
          style={{
            gap: `${isStacked ? 12 : gap}px`,
            '--row': `${rowHeight}px`,
            ...(isStacked ? {} : { gridTemplateColumns: `repeat(${COLUMNS}, minmax(0, 1fr))` }),
          }}
          onClick={(event) => event.target === event.currentTarget && editor.select([])}
        >
          {sorted.map((widget) => (
            <Slot
              key={widget.id}
              editor={editor}
              widget={widget}
              place={places.get(widget.id)!}
              isStacked={isStacked}
              drag={drag}
            />
          ))}
        </div>
      </SharedContext.Provider>
    </div>
  );
}

interface SlotProps {
  editor: Editor;
  widget: Widget;
  place: Item;
  isStacked: boolean;
  drag: ReturnType<typeof useDrag>;
}

const ARROWS = { ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down' } as const;

function Slot({ editor, widget, place, isStacked, drag }: SlotProps) {
  const { id, type } = widget;
  const { x, y, w, h } = place;
  const title = editor.titleOf(widget);
  const isSelected = editor.selected.value.includes(id);
  const isDragged = editor.dragged.value?.id === id;
  const selection = () => (isSelected ? editor.selected.peek() : [id]);

  function onKeyDown(event: KeyboardEvent) {
    if (event.target !== event.currentTarget) return;
    const arrow = ARROWS[event.key as keyof typeof ARROWS];
    const isMod = event.ctrlKey || event.metaKey;
    if (arrow && !isMod && !event.altKey) {
      const mirrored = { left: 'right', right: 'left', up: 'up', down: 'down' } as const;
      const direction =
        getComputedStyle(document.documentElement).direction === 'rtl' ? mirrored[arrow] : arrow;
      (event.shiftKey ? stretch : step)(editor, id, direction);
    } else if (event.key === 'Enter' || event.key === ' ') {
      openSettings(editor, id);
    } else if (event.key === 'Delete' || event.key === 'Backspace') remove(editor, selection());
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
          ? { minHeight: type === 'CHART' ? `${Math.min(h * 76, 380)}px` : 'auto' }
          : { gridColumn: `${x + 1} / span ${w}`, gridRow: `${y + 1} / span ${h}` }
      }
      onKeyDown={onKeyDown}
      onFocus={(event) => event.target === event.currentTarget && !isSelected && editor.select([id])}
      onClick={(event) => {
        if (!(event.shiftKey || event.ctrlKey || event.metaKey)) return editor.select([id]);
        const others = editor.selected.peek().filter((one) => one !== id);
        editor.select(isSelected ? others : [...others, id]);
      }}
      onPointerDown={(event) => drag.begin(event, id, 'move')}
    >
      <OpenBy presence={editor.presence} widgetId={id} />
      <Drawn widget={widget} revision={editor.draft.revision.value} editor={editor} />
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
        ...moves.map(([key, direction]) => ({ label: say(key), run: () => step(editor, id, direction) })),
        ...sizes.map(([key, direction], i) => ({
          label: say(key),
          begins: i === 0,
          run: () => stretch(editor, id, direction),
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

interface DrawnProps {
  widget: Widget;
  revision: number;
  editor: Editor;
}

/** Drawn again if the widget or what it is drawn from has changed, and not for each place on the way of a drag. */
class Drawn extends Component<DrawnProps> {
  override shouldComponentUpdate(next: DrawnProps) {
    const { widget, revision } = this.props;
    return next.widget.config !== widget.config || next.revision !== revision;
  }
  render({ widget, editor }: DrawnProps) {
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
  if (type === 'TEXT' && !String(config.markdown ?? '').trim()) return say('emptyText');
  if (type === 'CHART' && !config.reportId) return say('chooseReport');
  if ((type === 'FILTER' || type === 'TIME_GRAIN') && !config.member) return say('chooseMember');
  return undefined;
}

function useNarrow(): boolean {
  const query = `(max-width: ${STACKED_BELOW - 1}px)`;
  const [isNarrow, setNarrow] = useState(() => matchMedia(query).matches);
  useEffect(() => {
    const list = matchMedia(query);
    const look = () => setNarrow(list.matches);
    list.addEventListener('change', look);
    return () => list.removeEventListener('change', look);
  }, []);
  return isNarrow;
}
