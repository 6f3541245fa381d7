/** Moving and resizing by pointer. What a drag would do is shown on the way; Escape takes it back. */
import { useRef } from 'preact/hooks';
import { settle } from './actions.ts';
import type { Editor } from './editor.ts';
import { itemsOf } from './edits.ts';
import { COLUMNS, type Item, move, resize } from './grid/grid.ts';
import { widgetsOf } from './state/doc.ts';
import { topLevelOf } from './state/widgets.ts';

type Kind = 'move' | 'resize';

/** Less is a click. */
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

export function useDrag(editor: Editor, frame: { current: HTMLElement | null }) {
  const running = useRef<AbortController | undefined>(undefined);

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
    running.current?.abort();
    const over = new AbortController();
    running.current = over;
    const { signal } = over;
    const start: Item[] = itemsOf(topLevelOf(widgetsOf(editor.doc)));
    const item = start.find((one) => one.id === id)!;
    const from = { x: event.clientX, y: event.clientY };
    const box = slot.getBoundingClientRect();
    const isMirrored = getComputedStyle(grid).direction === 'rtl';
    let layout: readonly Item[] | undefined;

    /** From the position of the pointer to that of the item, in the grid as it is now. */
    const place = ({ clientX, clientY }: PointerEvent) => {
      const tracks = tracksOf(grid);
      const around = grid.getBoundingClientRect();
      const dx = (clientX - from.x) * (isMirrored ? -1 : 1);
      if (kind === 'resize') {
        const bottom = clientY - around.top;
        const h = Math.max(1, rowAt(tracks, bottom + tracks.gap) - item.y);
        return resize(start, id, { w: item.w + Math.round(dx / tracks.column), h });
      }
      const top = clientY - (from.y - box.top) - around.top;
      return move(start, id, { x: item.x + Math.round(dx / tracks.column), y: rowAt(tracks, top) });
    };

    const onMove = (moved: PointerEvent) => {
      const distance = Math.hypot(moved.clientX - from.x, moved.clientY - from.y);
      if (!layout && distance < THRESHOLD_PX) return;
      if (!layout) slot.setPointerCapture?.(event.pointerId);
      if (moved.clientY > innerHeight - EDGE_PX) scrollBy(0, SCROLL_PX);
      else if (moved.clientY < EDGE_PX * 2) scrollBy(0, -SCROLL_PX);
      layout = place(moved);
      editor.dragged.value = { id, layout };
    };
    const end = (isKept: boolean) => {
      over.abort();
      editor.dragged.value = undefined;
      if (!layout) return;
      // The click that follows would select something else.
      const clicks = new AbortController();
      addEventListener('click', (click) => click.stopPropagation(), { capture: true, signal: clicks.signal });
      setTimeout(() => clicks.abort(), 50);
      editor.select([id]);
      if (isKept) settle(editor, id, layout, kind);
    };
    addEventListener('pointermove', onMove, { signal });
    addEventListener('pointerup', () => end(true), { signal });
    addEventListener('pointercancel', () => end(false), { signal });
    addEventListener(
      'keydown',
      (key) => {
        if (key.key !== 'Escape' || !layout) return;
        key.preventDefault();
        key.stopPropagation();
        end(false);
      },
      { signal, capture: true },
    );
  }

  return { begin };
}
