/** Makes room in a chart: labels and legends wrap instead of being cut off, and right-to-left pages are mirrored. */
import { fitCells } from './fit-cells.ts';
import { entriesOf, isBand, type Part, partsOf, type Room } from './spec-parts.ts';

/** The width of a legend entry beside its text: the symbol, and the space to the next entry. */
const ENTRY_EXTRA = 32;
const ENTRY_HEIGHT = 16;
/** The least height of the axes and marks, below the legends. */
const PLOT_MIN = 150;
const NARROW = 480;
const CHARACTER = 6.4;
/** Labels of an axis at the side take at most this part of the chart, and at most so many characters in a line. */
const SIDE = { share: 0.36, characters: 30 };
const BOTTOM_CHARACTERS = 20;

/** The format that wraps names; see `axis-formats.ts`. */
export const wrapFormat = (characters: number) => `wrap:${Math.max(6, Math.floor(characters))}`;

const TEXT = '"(?:[^"\\\\]|\\\\.)*"';
const VALUE_IN = new RegExp(`datum\\[(${TEXT})\\]`, 'g');
const TITLE_IN = new RegExp(`${TEXT}:(${TEXT})`, 'g');

/** Finding texts in an expression takes a time by the square of its length. */
const EXPRESSION_MAX = 10_000;
/** No legend has room for more. */
const VALUES_MAX = 200;
const TITLES_MAX = 50;

/** Names that the chart makes of a value and the title of a measure, which are in no row. */
function madeEntries({ domain }: Part, data: Part[], rows: readonly Part[]): string[] | undefined {
  const { field } = (domain ?? {}) as { field?: unknown };
  const formula = data
    .flatMap(({ transform }) => partsOf(transform))
    .find(({ type, as }) => type === 'formula' && as === field);
  if (typeof formula?.expr !== 'string' || formula.expr.length > EXPRESSION_MAX) return undefined;
  const { expr } = formula;
  const textsIn = (pattern: RegExp) =>
    [...expr.matchAll(pattern)].map(([, text]) => JSON.parse(text!) as string);
  const by = textsIn(VALUE_IN).find((name) => rows.some((row) => name in row));
  if (!by) return undefined;
  const values = [...new Set(rows.map((row) => String(row[by])))].slice(0, VALUES_MAX);
  const titles = textsIn(TITLE_IN).slice(0, TITLES_MAX);
  return values.flatMap((value) => titles.map((title) => `${value}, ${title}`));
}

function fitLegend(
  legend: Part,
  scales: Part[],
  data: Part[],
  rows: readonly Part[],
  room: Room,
): [Part, height: number] {
  const { fill, stroke, shape, size, opacity, strokeDash } = legend;
  const names = [fill, stroke, shape, size, opacity, strokeDash];
  const scale = scales.find(({ name }) => names.includes(name));
  const isBeside = legend.orient === 'left' || legend.orient === 'right';
  const isMoved = isBeside && room.width < NARROW;
  const moved: Part = isMoved ? { ...legend, orient: 'top', direction: 'horizontal' } : legend;
  if (!scale || !isBand(scale)) return [moved, ENTRY_HEIGHT];
  const space = isBeside && !isMoved ? room.width * SIDE.share : room.width - ENTRY_EXTRA;
  const wrapped = {
    ...moved,
    labelLimit: space,
    ...(legend.format === undefined ? { format: wrapFormat(space / CHARACTER) } : {}),
  };
  if (isBeside && !isMoved) return [wrapped, 0];
  const entries = entriesOf(scale, rows) ?? madeEntries(scale, data, rows) ?? [];
  const widest = entries.reduce((most, entry) => Math.max(most, Math.min(space, room.measure(entry))), 60);
  const columns = Math.max(1, Math.floor(room.width / (widest + ENTRY_EXTRA)));
  return [{ ...wrapped, columns }, Math.ceil(entries.length / columns) * ENTRY_HEIGHT];
}

/** A turned label is as long as the chart has room below, and has one line, so that there is one for each narrow bar. */
const BELOW = { share: 0.36, least: 60, most: 180 };
const isTurned = (angle: unknown) => typeof angle === 'number' && angle % 180 !== 0;

function fitAxis(axis: Part, scales: Part[], { width, height }: Room): Part {
  const scale = scales.find(({ name }) => name === axis.scale);
  if (!scale || !isBand(scale) || axis.format !== undefined || axis.formatType !== undefined) return axis;
  const isSide = axis.orient === 'left' || axis.orient === 'right';
  if (!isSide && isTurned(axis.labelAngle)) {
    const labelLimit = Math.min(BELOW.most, Math.max(BELOW.least, height * BELOW.share));
    return { labelLimit, labelSeparation: 0, ...axis };
  }
  const characters = isSide ? Math.min(SIDE.characters, (width * SIDE.share) / CHARACTER) : BOTTOM_CHARACTERS;
  return { ...axis, format: wrapFormat(characters), labelLimit: Math.ceil((characters + 4) * CHARACTER) };
}

/** A range across the chart is turned around. */
function mirroredScale(scale: Part): Part {
  const { range } = scale;
  const isAcross =
    range === 'width' ||
    (Array.isArray(range) && range.length === 2 && range[0] === 0 && range[1]?.signal === 'width');
  return isAcross && typeof (scale.reverse ?? false) === 'boolean'
    ? { ...scale, reverse: !scale.reverse }
    : scale;
}

const OPPOSITE: Record<string, string> = { left: 'right', right: 'left' };
const mirroredGuide = (guide: Part): Part =>
  typeof guide.orient === 'string' && OPPOSITE[guide.orient]
    ? { ...guide, orient: OPPOSITE[guide.orient] }
    : guide;

/** Changes the spec, and returns the height that it needs, which may be more than there is: then the card grows. */
export function fitSpec(spec: Part, rows: readonly Part[], room: Room): number {
  const scales = partsOf(spec.scales);
  const data = partsOf(spec.data);
  const legends = partsOf(spec.legends).map((legend) => fitLegend(legend, scales, data, rows, room));
  const axes = partsOf(spec.axes).map((axis) => fitAxis(axis, scales, room));
  const turned = (guides: Part[]) => (room.isRightToLeft ? guides.map(mirroredGuide) : guides);
  spec.legends = turned(legends.map(([legend]) => legend));
  spec.axes = turned(axes);
  if (room.isRightToLeft) spec.scales = scales.map(mirroredScale);
  const forLegends = legends.reduce((sum, [, height]) => sum + height, 0);
  const least = forLegends > 2 * ENTRY_HEIGHT ? PLOT_MIN + forLegends : 0;
  const ofCells = fitCells(spec, rows, room);
  if (ofCells !== undefined) {
    spec.autosize = { type: 'pad' };
    return ofCells;
  }
  spec.autosize = { type: 'fit', contains: 'padding' };
  spec.width = Math.max(80, Math.floor(room.width));
  spec.height = Math.max(80, least, Math.floor(room.height));
  return least;
}
