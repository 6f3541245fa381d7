/** Widgets in a grid, by the convention of react-grid-layout. Narrow pages stack them. */
import type { ComponentChild } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { visibilityOf } from './presets.ts';
import { useShared } from './shared.ts';
import type { Breakpoint, Position, Widget } from './types.ts';

const BREAKPOINTS: [Breakpoint, number][] = [
  ['lg', 1200],
  ['md', 996],
  ['sm', 768],
  ['xs', 480],
  ['xxs', 0],
];
const COLUMNS = 12;
/** Below this, cards beside each other would be too narrow to read. */
const STACKED_BELOW = 800;
const ROW_HEIGHT = 60;
const MARGIN = 16;

const useWidth = () => {
  const [width, setWidth] = useState(document.documentElement.clientWidth);
  useEffect(() => {
    const measure = () => setWidth(document.documentElement.clientWidth);
    window.addEventListener('resize', measure);
    return () => window.removeEventListener('resize', measure);
  }, []);
  return width;
};

const bounded = (value: unknown, from: number, to: number, otherwise: number) =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(Math.max(value, from), to) : otherwise;

export function Grid({
  widgets,
  children,
}: {
  widgets: Widget[];
  /** Draws a widget in its place. */
  children: (widget: Widget) => ComponentChild;
}) {
  const { board, isEdited, width: given } = useShared();
  const { reportSnapshots, config } = board.dashboard!;
  const { layout } = config;
  const kindOf = (widget: Widget) =>
    reportSnapshots.find(({ reportId }) => reportId === widget.config?.reportId)?.kind ?? undefined;
  const own = useWidth();
  const width = given ?? own;
  const breakpoint =
    BREAKPOINTS.find(([name, from]) => width >= (layout?.breakpoints?.[name] ?? from))?.[0] ?? 'xxs';
  const hasOwnLayout = widgets.some(({ responsiveLayouts }) => responsiveLayouts?.[breakpoint]);
  const isStacked = !hasOwnLayout && width < STACKED_BELOW;
  const cols = layout?.cols;
  const wanted = typeof cols === 'number' ? cols : hasOwnLayout ? cols?.[breakpoint] : cols?.lg;
  const columns = bounded(wanted, 1, 48, COLUMNS);
  const rowHeight = bounded(layout?.rowHeight, 8, 400, ROW_HEIGHT);
  const gap = bounded(layout?.margin?.[0], 0, 48, MARGIN);
  const all = widgets.map((widget) => ({
    widget,
    at: widget.responsiveLayouts?.[breakpoint] ?? widget.position,
  }));
  const placed = (isEdited ? all : withoutHidden(all)).sort((a, b) => a.at.y - b.at.y || a.at.x - b.at.x);
  const top = Math.min(...placed.map(({ at }) => at.y));
  return (
    <div
      class={isStacked ? 'grid stacked' : 'grid'}
      style={
        isStacked
          ? { gap: `${Math.min(gap, 12)}px` }
          : {
              gap: `${gap}px`,
              gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
              '--row': `${rowHeight}px`,
            }
      }
    >
      {placed.map(({ widget, at }) => (
        <div
          key={widget.id}
          class={`cell ${widget.type.toLowerCase()}${isStacked && isSmall(widget, at, kindOf(widget)) ? ' small' : ''}`}
          style={
            isStacked
              ? { minHeight: stackedHeight(widget, at, rowHeight, gap, kindOf(widget)) }
              : placeOf(at, top, columns)
          }
        >
          {children(widget)}
        </div>
      ))}
    </div>
  );
}

interface PlacedWidget {
  widget: Widget;
  at: Position;
}

/** Rows that hold nothing but hidden controls go with them. */
export function withoutHidden(all: readonly PlacedWidget[]): PlacedWidget[] {
  const isHidden = ({ widget }: PlacedWidget) => visibilityOf(widget) === 'hidden';
  const rowsOf = (list: readonly PlacedWidget[]) =>
    new Set(list.flatMap(({ at }) => Array.from({ length: Math.max(1, at.h) }, (_, i) => at.y + i)));
  const shown = all.filter((one) => !isHidden(one));
  if (shown.length === all.length) return shown;
  const used = rowsOf(shown);
  const gone = [...rowsOf(all.filter(isHidden))].filter((row) => !used.has(row));
  return shown.map(({ widget, at }) => ({
    widget,
    at: { ...at, y: at.y - gone.filter((row) => row < at.y).length },
  }));
}

/** Two of them fit beside each other on a phone. */
const isSmall = ({ type }: Widget, { w }: Position, kind: string | undefined) =>
  w <= 4 && (type === 'FILTER' || kind === 'kpi');

function stackedHeight({ type }: Widget, { h }: Position, rowHeight: number, gap: number, kind?: string) {
  const most = kind === 'map' ? 260 : kind === 'kpi' ? 150 : 380;
  return type === 'CHART' || type === 'APP' ? `${Math.min(h * rowHeight + (h - 1) * gap, most)}px` : 'auto';
}

function placeOf({ x, y, w, h }: Position, top: number, columns: number) {
  const left = Math.min(Math.max(x, 0), columns - 1);
  return {
    gridColumn: `${left + 1} / span ${Math.max(1, Math.min(w, columns - left))}`,
    gridRow: `${y - top + 1} / span ${Math.max(1, h)}`,
  };
}
