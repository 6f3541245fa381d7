/** Makes room for small charts: those of a facet, and views beside or below each other. */
import { entriesOf, isBand, type Part, partsOf, type Room } from './spec-parts.ts';

/**
 * The size that small charts are compiled with if they have none of their own. It stands for: as large as there is
 * room.
 */
const UNSIZED = { width: 220, height: 150 };
const MIN = { width: 80, height: 90 };
/** The width at which small charts can be read, where they may stand in any number of columns. */
const WISH = 160;
/** A longer name would make a chart that nobody scrolls through. */
const WIDTHS_MAX = 3;
const GAP = 20;
const HEAD = 26;
/** Labels of values beside the first column, and below the last line. */
const AXIS = { width: 56, height: 40 };
/** A name below a column, turned by a quarter. */
const NAME_STEP = 14;

interface Cell extends Part {
  role?: string;
  from?: { facet?: { groupby?: string[] } };
  encode?: { update?: Record<'width' | 'height', { signal?: string } | undefined> };
}

interface Arrangement {
  columns: number;
  lines: number;
  /** Rows and columns of values: they cannot be moved. */
  isGrid: boolean;
}

/**
 * Gives each the size that there is room for, in fewer columns where they do not fit. Returns the height that all need,
 * or undefined for a spec that has none.
 */
export function fitCells(spec: Part, rows: readonly Part[], room: Room): number | undefined {
  if (!spec.layout) return undefined;
  const cells = partsOf(spec.marks).filter(({ type, role }) => type === 'group' && !role) as Cell[];
  const widths = sizesOf('width', spec, cells);
  const heights = sizesOf('height', spec, cells);
  /** A size of the author's own stays, if there is room for it. */
  const own = widths.map(({ value }) => value).find((value) => value !== UNSIZED.width);
  const least = leastWidth(spec, cells, rows, room);
  const space = room.width - AXIS.width;
  const fitting = Math.floor((space + GAP) / ((own ?? Math.max(least, WISH)) + GAP));
  const { columns, lines, isGrid } = arrangementOf(spec, cells, rows, fitting);

  const width = Math.max(least, Math.floor((space - (columns - 1) * GAP) / columns));
  for (const each of widths) each.value = own === undefined ? width : Math.min(each.value, width);
  const height = Math.max(MIN.height, Math.floor((room.height - AXIS.height) / lines) - HEAD - GAP);
  for (const each of heights) if (each.value === UNSIZED.height) each.value = height;
  // Views below each other share a width, and views beside each other a height.
  if (spec.width === UNSIZED.width) spec.width = width;
  if (spec.height === UNSIZED.height) spec.height = height;

  if (!isGrid) spec.layout = { ...(spec.layout as Part), columns, padding: GAP };
  // Axes are drawn once for each column and line.
  for (const { name, transform } of partsOf(spec.data)) {
    const [sequence] = partsOf(transform);
    if (name === 'facet_domain_column') sequence!.stop = columns;
    if (name === 'facet_domain_row') sequence!.stop = lines;
  }
  const highest = heights.length ? Math.max(...heights.map(({ value }) => value)) : height;
  return Math.ceil(lines * (highest + HEAD + GAP) + AXIS.height);
}

/** The signals that say how wide or high they are, in pixels. Others follow the number of values. */
function sizesOf(side: 'width' | 'height', spec: Part, cells: Cell[]) {
  const names = new Set<unknown>(cells.map(({ encode }) => encode?.update?.[side]?.signal));
  return partsOf(spec.signals).filter(
    (signal): signal is Part & { value: number } =>
      names.has(signal.name) && typeof signal.value === 'number',
  );
}

function arrangementOf(spec: Part, cells: Cell[], rows: readonly Part[], fitting: number): Arrangement {
  const [across, down] = [headOf(spec, 'column_domain'), headOf(spec, 'row_domain')];
  if (across || down)
    return {
      columns: across ? valuesOf(rows, [across]).length : 1,
      lines: down ? valuesOf(rows, [down]).length : 1,
      isGrid: true,
    };
  const fields = facetOf(cells);
  const count = Math.max(1, fields ? valuesOf(rows, fields).length : cells.length);
  const { columns: own } = spec.layout as { columns?: unknown };
  const columns = Math.max(1, Math.min(typeof own === 'number' ? own : count, count, fitting));
  return { columns, lines: Math.ceil(count / columns), isGrid: false };
}

/** So wide that the name above a small chart and those below it can be read, unless they are very long. */
function leastWidth(spec: Part, cells: Cell[], rows: readonly Part[], room: Room): number {
  const head =
    headOf(spec, 'column_domain') ?? (headOf(spec, 'row_domain') ? undefined : facetOf(cells)?.[0]);
  const heads = new Set(head ? rows.map((row) => String(row[head])) : []);
  const widest = [...heads].reduce((width, text) => Math.max(width, Math.ceil(room.measure(text))), 0);
  const names = [...partsOf(spec.scales), ...cells.flatMap(({ scales }) => partsOf(scales))]
    .filter((scale) => isBand(scale) && /width/i.test(JSON.stringify(scale.range) ?? ''))
    .map((scale) => (entriesOf(scale, rows)?.length ?? 0) * NAME_STEP);
  return Math.max(MIN.width, Math.min(Math.max(widest, ...names), WIDTHS_MAX * room.width));
}

const facetOf = (cells: Cell[]) => (cells.length === 1 ? cells[0]!.from?.facet?.groupby : undefined);

/** The field whose values stand above the columns or beside the rows: they are in a data set of their own. */
function headOf(spec: Part, name: string): string | undefined {
  const heads = partsOf(spec.data).find((each) => each.name === name);
  const [aggregate] = partsOf(heads?.transform) as { groupby?: string[] }[];
  return aggregate?.groupby?.[0];
}

const valuesOf = (rows: readonly Part[], fields: readonly string[]): string[] => [
  ...new Set(rows.map((row) => JSON.stringify(fields.map((field) => row[field])))),
];
