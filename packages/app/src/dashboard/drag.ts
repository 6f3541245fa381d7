/**
 * Moving and resizing by pointer. What a drag would do is shown on the way; Escape takes it back.
 *
 * On the way nothing is laid out and no component is drawn: the rows stay as high as they were, and each widget that another
 * place is given is shifted there. Only the widget whose size changes is laid out.
 */
import { useMemo } from 'preact/hooks';
import { settle } from './actions.ts';
import type { Editor } from './editor.ts';
import { itemsOf } from './edits.ts';
import { bottomOf, COLUMNS, type Item, type Layout, move, moveAll, resize } from './grid/grid.ts';
import { widgetsOf } from './state/doc.ts';
import { topLevelOf } from './state/widgets.ts';

type Kind = 'move' | 'resize';

/** The distance below which a drag is a click. */
const THRESHOLD_PX = 4;
/** Near the edge of the window, the page scrolls. */
const EDGE_PX = 48;
const SCROLL_PX = 14;

/** Where columns and rows begin, and how far they are apart. Rows grow with what is in them, so each has its own height. */
interface Tracks {
  column: number;
  rows: number[];
  gap: number;
  rowHeight: number;
  /** The room below all rows. */
  below: number;
}

function tracksOf(grid: HTMLElement): Tracks {
  const style = getComputedStyle(grid);
  const gap = Number.parseFloat(style.rowGap) || 0;
  const heights = style.gridTemplateRows.split(' ').map(Number.parseFloat).filter(Number.isFinite);
  const rows = [0];
  for (const height of heights) rows.push(rows.at(-1)! + height + gap);
  return {
    column: (grid.clientWidth + gap) / COLUMNS,
    rows,
    gap,
    rowHeight: Number.parseFloat(style.getPropertyValue('--row')) || 60,
    below: Number.parseFloat(style.paddingBottom) || 0,
  };
}

/** The row that begins nearest to a height, also below all rows. */
function rowAt({ rows, rowHeight, gap }: Tracks, top: number): number {
  const last = rows.length - 1;
  if (top > rows[last]!) return last + Math.round((top - rows[last]!) / (rowHeight + gap));
  let nearest = 0;
  for (const [i, start] of rows.entries())
    if (Math.abs(start - top) < Math.abs(rows[nearest]! - top)) nearest = i;
  return nearest;
}

export interface Drag {
  begin(event: PointerEvent, id: string, kind: Kind): void;
}

export const useDrag = (editor: Editor, frame: { current: HTMLElement | null }): Drag =>
  useMemo(() => createDrag(editor, frame), [editor]);

/** The distance of a row from the top, also below all rows. */
const topOf = ({ rows, rowHeight, gap }: Tracks, row: number) => {
  const last = rows.length - 1;
  return row <= last ? rows[row]! : rows[last]! + (row - last) * (rowHeight + gap);
};

/** Shows widgets at other places than those where they stand in the page. */
function createShifts(grid: HTMLElement, tracks: Tracks, start: readonly Item[], isMirrored: boolean) {
  const slots = new Map<string, HTMLElement>();
  for (const slot of grid.querySelectorAll<HTMLElement>(':scope > .slot'))
    slots.set(slot.dataset.widget!, slot);
  const before = new Map(start.map((item) => [item.id, item]));
  let shown = before;
  let lowest = bottomOf(start);
  // What a widget needs for its new size does not move the rows of the others.
  grid.style.gridTemplateRows = getComputedStyle(grid).gridTemplateRows;
  grid.classList.add('dragging');
  return {
    show(layout: Layout) {
      for (const item of layout) {
        const was = shown.get(item.id);
        const { style } = slots.get(item.id) ?? {};
        const from = before.get(item.id);
        if (!style || !from || !was) continue;
        if (was.x !== item.x || was.y !== item.y) {
          const x = (item.x - from.x) * tracks.column * (isMirrored ? -1 : 1);
          const y = topOf(tracks, item.y) - topOf(tracks, from.y);
          style.transform = x || y ? `translate(${x}px, ${y}px)` : '';
        }
        if (was.w !== item.w || was.h !== item.h) {
          style.width = `${item.w * tracks.column - tracks.gap}px`;
          style.height = `${topOf(tracks, item.y + item.h) - topOf(tracks, item.y) - tracks.gap}px`;
        }
      }
      shown = new Map(layout.map((item) => [item.id, item]));
      const bottom = bottomOf(layout);
      if (bottom === lowest) return;
      lowest = bottom;
      grid.style.minHeight = `${topOf(tracks, bottom) + tracks.below}px`;
    },
    end() {
      grid.classList.remove('dragging');
      grid.style.gridTemplateRows = '';
      grid.style.minHeight = '';
      for (const { style } of slots.values()) for (const name of SHIFTED) style[name] = '';
    },
  };
}

const SHIFTED = ['transform', 'width', 'height'] as const;

const isAt = (a: readonly Item[], b: readonly Item[] | undefined) =>
  a.every((one, i) => {
    const other = b?.[i];
    return other && one.x === other.x && one.y === other.y && one.w === other.w && one.h === other.h;
  });

function createDrag(editor: Editor, frame: { current: HTMLElement | null }): Drag {
  let running: AbortController | undefined;

  function begin(event: PointerEvent, id: string, kind: Kind) {
    const target = event.target as Element;
    const isTouch = event.pointerType === 'touch';
    // A finger on a widget scrolls the page; its grip and its corner move it.
    const isHandle = target.closest('.grip, .slot-corner') !== null;
    if (event.button !== 0 || !editor.canEdit || (isTouch && !isHandle)) return;
    if (target.closest('button, a, input, [popover]')) return;
    const grid = frame.current?.querySelector<HTMLElement>('.canvas');
    const slot = target.closest<HTMLElement>('.slot');
    if (!grid || !slot || grid.classList.contains('stacked')) return;
    running?.abort();
    const over = new AbortController();
    running = over;
    const { signal } = over;
    const start: Item[] = itemsOf(topLevelOf(widgetsOf(editor.doc)), editor.device.peek());
    const item = start.find((one) => one.id === id)!;
    const selected = editor.selected.peek();
    const isGroup = kind === 'move' && selected.length > 1 && selected.includes(id);
    const ids = isGroup ? selected.filter((one) => start.some((each) => each.id === one)) : [id];
    const from = { x: event.clientX, y: event.clientY };
    const box = slot.getBoundingClientRect();
    const isMirrored = getComputedStyle(grid).direction === 'rtl';
    const tracks = tracksOf(grid);
    let layout: readonly Item[] | undefined;
    let shifts: ReturnType<typeof createShifts> | undefined;
    let last: PointerEvent | undefined;
    let frameId = 0;

    /** From the position of the pointer to that of the item, in the grid as it was at the start. */
    const place = ({ clientX, clientY }: PointerEvent) => {
      const around = grid.getBoundingClientRect();
      const dx = Math.round(((clientX - from.x) * (isMirrored ? -1 : 1)) / tracks.column);
      if (kind === 'resize') {
        const bottom = clientY - around.top;
        const h = Math.max(1, rowAt(tracks, bottom + tracks.gap) - item.y);
        return resize(start, id, { w: item.w + dx, h });
      }
      const top = clientY - (from.y - box.top) - around.top;
      const y = rowAt(tracks, top);
      return isGroup ? moveAll(start, ids, { x: dx, y: y - item.y }) : move(start, id, { x: item.x + dx, y });
    };

    const show = () => {
      frameId = 0;
      if (!last) return;
      if (last.clientY > innerHeight - EDGE_PX) scrollBy(0, SCROLL_PX);
      else if (last.clientY < EDGE_PX * 2) scrollBy(0, -SCROLL_PX);
      const next = place(last);
      if (layout && isAt(next, layout)) return;
      if (!layout) editor.dragged.value = ids;
      layout = next;
      shifts ??= createShifts(grid, tracks, start, isMirrored);
      shifts.show(layout);
    };

    const onMove = (moved: PointerEvent) => {
      const distance = Math.hypot(moved.clientX - from.x, moved.clientY - from.y);
      if (!last && distance < THRESHOLD_PX) return;
      if (!last) slot.setPointerCapture?.(event.pointerId);
      last = moved;
      // Once a frame, however often the pointer tells of itself.
      frameId ||= requestAnimationFrame(show);
    };
    const end = (isKept: boolean) => {
      over.abort();
      cancelAnimationFrame(frameId);
      if (last && isKept) show();
      if (!layout) return;
      shifts?.end();
      editor.dragged.value = [];
      // The click that follows would select something else.
      const clicks = new AbortController();
      addEventListener('click', (click) => click.stopPropagation(), { capture: true, signal: clicks.signal });
      setTimeout(() => clicks.abort(), 50);
      editor.select(ids);
      if (isKept) settle(editor, id, layout, kind, ids.length);
    };
    addEventListener('pointermove', onMove, { signal });
    addEventListener('pointerup', () => end(true), { signal });
    addEventListener('pointercancel', () => end(false), { signal });
    addEventListener(
      'keydown',
      (key) => {
        if (key.key !== 'Escape' || !last) return;
        key.preventDefault();
        key.stopPropagation();
        end(false);
      },
      { signal, capture: true },
    );
  }

  return { begin };
}
