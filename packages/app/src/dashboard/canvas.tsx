/** The widgets in their grid, to be selected, moved and resized. They are drawn as viewers get them. */
import { applyTokens, BoardView, type Widget as DrawnWidget, SharedContext } from '@oriel/charts';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useDrag } from './drag.ts';
import type { Editor } from './editor.ts';
import { itemsOf } from './edits.ts';
import { COLUMNS } from './grid/grid.ts';
import { say } from './say.ts';
import { Slot } from './slot.tsx';
import { widgetsOf } from './state/doc.ts';
import { topLevelOf } from './state/widgets.ts';

const ROW_HEIGHT = 60;
const MARGIN = 16;
/** Below this, widgets stand below each other, as in the page of viewers. */
const STACKED_BELOW = 800;

/** How wide the page of a viewer is in each preview. */
export const WIDTHS = { desk: undefined, tablet: 820, phone: 390 } as const;

const drill = () => {};

export function Canvas({ editor }: { editor: Editor }) {
  const frame = useRef<HTMLDivElement>(null);
  const doc = editor.shownDoc;
  const { board, revision } = editor.draft;
  const isStacked = useNarrow();
  revision.value;
  useLayoutEffect(() => applyTokens(board.tokens, frame.current!), [board.tokens]);
  const drag = useDrag(editor, frame);
  const shared = useMemo(() => ({ board, drill, isEdited: true }), [board]);
  if (editor.isPreview.value) {
    const width = WIDTHS[editor.device.value];
    return (
      <div
        class={width ? 'board as-device' : 'board'}
        ref={frame}
        style={width ? { maxWidth: `${width}px` } : {}}
      >
        <BoardView
          key={board.viewers}
          board={board}
          widgets={topLevelOf(widgetsOf(doc)) as DrawnWidget[]}
          width={width}
        />
      </div>
    );
  }
  const widgets = topLevelOf(widgetsOf(doc));
  const { dragged, selected, device } = editor;
  const width = WIDTHS[device.value];
  const places = new Map(itemsOf(widgets, device.value).map((item) => [item.id, item]));
  // Read in the order of rows.
  const sorted = widgets.toSorted((a, b) => {
    const [one, other] = [places.get(a.id)!, places.get(b.id)!];
    return one.y - other.y || one.x - other.x;
  });
  const rowHeight = Number(doc.layout?.rowHeight) || ROW_HEIGHT;
  const gap = doc.layout?.margin?.[0] ?? MARGIN;
  return (
    <div
      class={width && !isStacked ? 'board as-device' : 'board'}
      ref={frame}
      style={{ maxWidth: width && !isStacked ? `${width}px` : '' }}
    >
      <p id="canvas-help" class="hidden">
        {say('canvasHelp')}
      </p>
      <SharedContext.Provider value={shared}>
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
              isSelected={selected.value.includes(widget.id)}
              isDragged={dragged.value.includes(widget.id)}
              unreachedBy={editor.unreached.value.get(widget.id)}
              drag={drag}
            />
          ))}
        </div>
      </SharedContext.Provider>
    </div>
  );
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
