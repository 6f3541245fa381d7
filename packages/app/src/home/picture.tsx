/**
 * A published dashboard, drawn small: its places and kinds of charts. It shows no data, so that a list asks for none and shows
 * the same to everybody. Decoration: the name stands beside it.
 */
import type { Workbook } from './items.ts';

export type Outline = NonNullable<Workbook['dashboardOutline']>;
type WidgetMark = Outline[number]['shows'];

/** A column is 10 wide. Of a long dashboard, the rows are lower, and what is further down is outside of the picture. */
const [WIDTH, HEIGHT, GAP] = [120, 75, 1];
const ROW = { least: 3.6, most: 6.5 };

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

export function Picture({ outline }: { outline: Outline }) {
  const rows = Math.max(...outline.map(({ y, h }) => y + h));
  const row = Math.min(Math.max(HEIGHT / rows, ROW.least), ROW.most);
  return (
    <svg class="picture-of" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      <rect class="ground" width={WIDTH} height={HEIGHT} />
      {outline
        .filter(({ y }) => y * row < HEIGHT)
        .map(({ x, y, w, h, shows }) => {
          const box = { x: x * 10 + GAP, y: y * row + GAP, w: w * 10 - GAP * 2, h: h * row - GAP * 2 };
          return (
            <g key={`${x} ${y}`}>
              {shows !== 'text' && <rect class="card" {...sizeOf(box)} rx={1.5} />}
              {MARKS[shows](withMargin(box))}
            </g>
          );
        })}
    </svg>
  );
}

const sizeOf = ({ x, y, w, h }: Box) => ({ x, y, width: Math.max(w, 0), height: Math.max(h, 0) });

const withMargin = ({ x, y, w, h }: Box): Box => {
  const margin = Math.min(3, w / 6, h / 6);
  return { x: x + margin, y: y + margin, w: w - margin * 2, h: h - margin * 2 };
};

/** Shares of the height. */
const SHAPE = [0.35, 0.5, 0.42, 0.68, 0.6, 0.85, 0.75, 1];

const pathOf = ({ x, y, w, h }: Box) =>
  SHAPE.map((share, i) => `${x + (w * i) / (SHAPE.length - 1)} ${y + h * (1 - share * 0.9)}`).join(' L');

const lines = ({ x, y, w, h }: Box, count: number, height: number, lengths: readonly number[]) =>
  Array.from({ length: count }, (_, i) => (
    <rect
      key={i}
      x={x}
      y={y + (i * h) / count}
      width={w * lengths[i % lengths.length]!}
      height={Math.min(height, h / count)}
    />
  ));

const MARKS: Record<WidgetMark, (box: Box) => preact.ComponentChildren> = {
  line: (box) => <path class="stroke" d={`M${pathOf(box)}`} />,
  area: (box) => (
    <>
      <path
        class="soft-mark"
        d={`M${box.x} ${box.y + box.h} L${pathOf(box)} L${box.x + box.w} ${box.y + box.h}Z`}
      />
      <path class="stroke" d={`M${pathOf(box)}`} />
    </>
  ),
  column: ({ x, y, w, h }) => {
    const step = w / SHAPE.length;
    return SHAPE.map((share, i) => (
      <rect
        key={share}
        class="mark"
        x={x + i * step}
        y={y + h * (1 - share)}
        width={step * 0.7}
        height={h * share}
      />
    ));
  },
  bar: ({ x, y, w, h }) => {
    const step = h / 5;
    return [1, 0.8, 0.62, 0.45, 0.3].map((share, i) => (
      <rect key={share} class="mark" x={x} y={y + i * step} width={w * share} height={step * 0.65} />
    ));
  },
  pie: ({ x, y, w, h }) => {
    const radius = Math.min(w, h) * 0.36;
    const length = 2 * Math.PI * radius;
    const ring = { cx: x + w / 2, cy: y + h / 2, r: radius, fill: 'none', 'stroke-width': radius * 0.55 };
    return (
      <>
        <circle class="soft-ring" {...ring} />
        <circle class="ring" {...ring} stroke-dasharray={`${length * 0.62} ${length}`} />
      </>
    );
  },
  point: ({ x, y, w, h }) =>
    SHAPE.map((share, i) => (
      <circle
        key={share}
        class="mark"
        cx={x + (w * (i + 0.5)) / SHAPE.length}
        cy={y + h * (1 - share * 0.9)}
        r={Math.min(1.6, h / 8)}
      />
    )),
  heatmap: ({ x, y, w, h }) =>
    Array.from({ length: 24 }, (_, i) => (
      <rect
        key={i}
        class="mark"
        opacity={0.2 + 0.8 * SHAPE[(i * 3) % SHAPE.length]!}
        x={x + ((i % 6) * w) / 6}
        y={y + (Math.floor(i / 6) * h) / 4}
        width={(w / 6) * 0.88}
        height={(h / 4) * 0.85}
      />
    )),
  map: ({ x, y, w, h }) => (
    <>
      <ellipse class="soft-mark" cx={x + w * 0.24} cy={y + h * 0.35} rx={w * 0.17} ry={h * 0.24} />
      <ellipse class="soft-mark" cx={x + w * 0.32} cy={y + h * 0.76} rx={w * 0.08} ry={h * 0.22} />
      <ellipse class="mark" cx={x + w * 0.55} cy={y + h * 0.5} rx={w * 0.1} ry={h * 0.4} />
      <ellipse class="soft-mark" cx={x + w * 0.77} cy={y + h * 0.36} rx={w * 0.19} ry={h * 0.28} />
      <ellipse class="soft-mark" cx={x + w * 0.88} cy={y + h * 0.8} rx={w * 0.08} ry={h * 0.14} />
    </>
  ),
  table: (box) => (
    <g class="ink">{lines(box, Math.max(2, Math.round(box.h / 3.5)), 1.1, [1, 0.86, 0.94, 0.8])}</g>
  ),
  kpi: ({ x, y, w, h }) => (
    <>
      <rect class="ink" x={x} y={y} width={w * 0.45} height={h * 0.16} />
      <rect class="mark" x={x} y={y + h * 0.36} width={w * 0.7} height={h * 0.46} rx={0.8} />
    </>
  ),
  text: (box) => <g class="ink">{lines(box, Math.max(1, Math.round(box.h / 4)), 1.4, [0.55, 0.9, 0.82])}</g>,
  control: ({ x, y, w, h }) => <rect class="ink" x={x} y={y + h * 0.3} width={w * 0.6} height={h * 0.4} />,
};
