/** Bars, columns, lines, areas, and combinations of them with two axes. */
import {
  type Channels,
  type Column,
  channelsOf,
  columnsOf,
  comparisonsOf,
  fieldOf,
  requireColumn,
  requireMeasures,
} from './columns.ts';
import {
  along,
  amount,
  baseOf,
  datum,
  EARLIER_WORDS,
  earlierMember,
  formatOf,
  legendOf,
  type Part,
  quoted,
  sortOf,
} from './encodings.ts';
import { referencesOf } from './references.ts';
import type { Describe, QueryColumns, Visualization } from './types.ts';

type Mark = 'bar' | 'line' | 'area';
type Side = 'left' | 'right';

/** Several measures become rows of these two fields. Pages find the measure by its name in `KEY`. */
const KEY = 'series_measure';
const VALUE = 'series_value';
const NAME = 'series_name';

interface Drawing {
  visualization: Visualization;
  describe: Describe | undefined;
  channels: Channels;
  x: Column;
  isHorizontal: boolean;
  isStacked: boolean;
  isPercent: boolean;
}

/** The measures of one mark on one side. */
interface Layer {
  mark: Mark;
  side: Side;
  measures: Column[];
}

const MARKS: Record<string, Mark> = { column: 'bar', line: 'line', area: 'area' };

export function cartesian(visualization: Visualization, query: QueryColumns, describe?: Describe): Part {
  const own = channelsOf(visualization, columnsOf(query, describe));
  requireMeasures(own.y);
  const x = requireColumn(own.x, 'x');
  const earlier = earlierOf(visualization, own, query);
  const channels = { ...own, y: [...own.y, ...earlier] };
  const { type, stacking } = visualization;
  const isHorizontal = type === 'bar';
  const defaultStacking = !earlier.length && (channels.color || type === 'area') ? 'stacked' : 'none';
  const chosen = type === 'line' ? 'none' : (stacking ?? defaultStacking);
  const drawing: Drawing = {
    ...{ visualization, describe, channels, x, isHorizontal },
    isStacked: chosen !== 'none',
    isPercent: chosen === 'percent',
  };
  const layers = layersOf(drawing);
  const specs = sidesOf(layers).map((ofSide) => sideSpec(drawing, ofSide));
  const references = referencesOf(visualization, channels.y[0]!, isHorizontal);
  const isTwoSided = specs.length > 1;
  const parts = isTwoSided
    ? [{ layer: [...specs[0]!, ...references] }, { layer: specs[1]! }]
    : [...specs[0]!, ...references];
  const [first] = parts;
  const body: Part =
    parts.length === 1
      ? first!
      : { layer: parts, ...(isTwoSided ? { resolve: { scale: { y: 'independent' } } } : {}) };
  return withFacet(drawing, body);
}

const isEarlier = ({ member }: Column) => baseOf(member) !== member;

/**
 * The values of an earlier period, as columns beside the measures. There are none if several measures have several
 * series each, because readers could not tell so many apart, nor if they would be stacked on the values that they are
 * compared with.
 */
function earlierOf(visualization: Visualization, { y, color }: Channels, query: QueryColumns): Column[] {
  const { type, stacking } = visualization;
  const isSplit = y.length > 1 || color !== undefined;
  const isStacked = type !== 'line' && (stacking ? stacking !== 'none' : type === 'area' && isSplit);
  if (type === 'combo' || (color && y.length > 1) || isStacked) return [];
  return y.flatMap(({ member }): Column[] => {
    const known = comparisonsOf(visualization, query).find(({ measure }) => measure === member);
    const isGiven = known && (!known.outputs?.length || known.outputs.includes('previous'));
    return isGiven ? [{ member: earlierMember(member), kind: 'measure' }] : [];
  });
}

/** In a combined chart the settings say how each measure is drawn; elsewhere all are drawn alike. */
function layersOf({ visualization, channels }: Drawing): Layer[] {
  const { type, series } = visualization;
  if (type !== 'combo') {
    const mark = type === 'line' ? 'line' : type === 'area' ? 'area' : 'bar';
    if (mark === 'bar') return [{ mark, side: 'left', measures: channels.y }];
    const earlier = channels.y.filter(isEarlier);
    const now: Layer = { mark, side: 'left', measures: channels.y.filter((one) => !isEarlier(one)) };
    return earlier.length ? [now, { mark: 'line', side: 'left', measures: earlier }] : [now];
  }
  const layers: Layer[] = [];
  for (const [i, measure] of channels.y.entries()) {
    const own = series?.[measure.member];
    const mark = MARKS[own?.mark ?? (i === 0 ? 'column' : 'line')]!;
    // Two measures of different sizes are the reason for a combined chart.
    const side = own?.axis ?? (i === 0 ? 'left' : 'right');
    const known = layers.find((layer) => layer.mark === mark && layer.side === side);
    if (known) known.measures.push(measure);
    else layers.push({ mark, side, measures: [measure] });
  }
  // Lines stand before columns and areas.
  return layers.toSorted((a, b) => Number(a.mark === 'line') - Number(b.mark === 'line'));
}

function sidesOf(layers: Layer[]): Layer[][] {
  const sides = [layers.filter(({ side }) => side === 'left'), layers.filter(({ side }) => side === 'right')];
  return sides.filter((side) => side.length > 0);
}

/** The marks of one side, which share an axis. */
const sideSpec = (drawing: Drawing, layers: Layer[]): Part[] =>
  layers.flatMap((layer) => {
    const spec = layerSpec(drawing, layer);
    const labels = layer.measures.every(isEarlier) ? undefined : labelSpec(drawing, layer, spec);
    return labels ? [spec, labels] : [spec];
  });

function layerSpec(drawing: Drawing, { mark, side, measures }: Layer): Part {
  const { visualization, channels, x, isHorizontal, isPercent } = drawing;
  const isStacked = drawing.isStacked && mark !== 'line';
  const { field, transform, color, offset, period } = seriesOf(drawing, measures, isStacked);
  const axes = visualization.axes;
  // The axis of the values is that of the measures, whichever way the bars lie.
  const axis = isHorizontal ? axes?.x : side === 'right' ? axes?.right : axes?.y;
  const names = isHorizontal ? axes?.y : axes?.x;
  const isBand = mark === 'bar' || layersHaveBars(drawing);
  const value = amount(field, axis, {
    ...(isStacked ? { stack: isPercent ? 'normalize' : 'zero' } : { stack: null }),
    axis: {
      ...(side === 'right' ? { orient: 'right', grid: false } : {}),
      ...(isStacked && isPercent ? { format: '.0%' } : {}),
      ...(measures.length === 1 && !isPercent ? { title: axisTitle(drawing, measures[0]!) } : {}),
      ...(measures.length > 1 && !isPercent ? commonFormat(drawing, measures) : {}),
    },
    ...(mark === 'line' ? { scale: { zero: axis?.zero ?? false } } : {}),
  });
  const position = along(x, names, {
    isBand,
    sort: sortOf(visualization, field, isStacked),
  });
  const encoding: Part = isHorizontal ? { y: position, x: value } : { x: position, y: value };
  if (color) encoding.color = color;
  Object.assign(encoding, period);
  // Labels are stacked in the same order as their bars.
  if (isStacked && mark === 'bar' && typeof color?.field === 'string')
    encoding.order = { field: color.field, type: 'nominal', sort: 'ascending' };
  if (offset && mark === 'bar' && !isStacked) encoding[isHorizontal ? 'yOffset' : 'xOffset'] = offset;
  // On a scale of time, bars cannot stand beside each other and lines miss the middle of bars, so use an ordinal scale.
  const isCombined = visualization.type === 'combo' && isBand;
  const isBeside = 'xOffset' in encoding || 'yOffset' in encoding;
  if (x.kind === 'time' && (isCombined || isBeside))
    encoding[isHorizontal ? 'y' : 'x'] = ordinalTime(x, names);
  const gaps = gapsOf(visualization, measures);
  const all = [...gaps, ...transform];
  return {
    ...(all.length ? { transform: all } : {}),
    mark: markOf(drawing, mark, measures, channels.color !== undefined || measures.length > 1),
    encoding,
  };
}

const layersHaveBars = ({ visualization, channels }: Drawing) =>
  visualization.type === 'combo' &&
  channels.y.some(({ member }, i) => {
    const mark = visualization.series?.[member]?.mark;
    return mark ? mark === 'column' : i === 0;
  });

function ordinalTime(x: Column, names: Parameters<typeof along>[1]): Part {
  const { scale: _scale, ...rest } = along(x, names, { isBand: true });
  return { ...rest, type: 'ordinal' };
}

const axisTitle = ({ channels, visualization }: Drawing, { member }: Column) => {
  const isAlone = channels.y.length === 1;
  // Two sides need to be told apart; one measure is told by the title of the chart.
  return visualization.type === 'combo' && !isAlone
    ? (visualization.series?.[member]?.title ?? fieldOf(member))
    : null;
};

/** The format of measures that are folded into one field, if all have the same. */
function commonFormat({ visualization, describe }: Drawing, measures: Column[]): Part {
  const formats = new Set(measures.map(({ member }) => formatOf(member, visualization, describe)));
  const [first] = formats;
  return formats.size === 1 && /[$%]/.test(first!) ? { format: first!.replace('.3', '') } : {};
}

interface SeriesParts {
  field: string;
  transform: Part[];
  color: Part | undefined;
  offset: Part | undefined;
  /** What tells an earlier period from this one where colours tell series. */
  period?: Part;
}

/** A series has its colour in both periods: bars of the earlier one are paler, lines are dashed. */
function comparedSeries(drawing: Drawing, by: string, measures: Column[]): SeriesParts {
  const { visualization, channels } = drawing;
  const all = channels.y.map(({ member }) => fieldOf(member));
  const known = legendOf(visualization);
  const legend = known && { ...known, labelExpr: labelsOf(drawing) };
  const color = colorOf(drawing, by, Object.keys(visualization.series ?? {}));
  const [only, ...others] = measures.map(({ member }) => fieldOf(member));
  if (!others.length) {
    const scale = { domain: all, range: [[1, 0], EARLIER_DASH] };
    const period = { strokeDash: { datum: only, type: 'nominal', scale, legend } };
    return { field: only!, transform: [], color, offset: undefined, period };
  }
  const scale = { domain: all, range: [1, 0.45] };
  return {
    field: VALUE,
    transform: [
      { fold: all, as: [KEY, VALUE] },
      { calculate: `toString(${datum(by)}) + ', ' + ${datum(KEY)}`, as: NAME },
    ],
    color,
    offset: { field: NAME, type: 'nominal', sort: null },
    period: { opacity: { field: KEY, type: 'nominal', sort: all, scale, legend } },
  };
}

function seriesOf(drawing: Drawing, measures: Column[], isStacked: boolean): SeriesParts {
  const { visualization, channels, describe } = drawing;
  const all = channels.y.map(({ member }) => fieldOf(member));
  const legend = legendOf(visualization);
  if (channels.color && channels.y.some(isEarlier))
    return comparedSeries(drawing, fieldOf(channels.color.member), measures);
  if (channels.y.length === 1) {
    const field = all[0]!;
    const own = visualization.series?.[channels.y[0]!.member]?.color;
    if (channels.color) {
      const by = fieldOf(channels.color.member);
      return {
        field,
        transform: [],
        color: colorOf(drawing, by, Object.keys(visualization.series ?? {})),
        offset: isStacked ? undefined : { field: by, type: 'nominal', sort: null },
      };
    }
    const only = own ?? visualization.palette?.[0];
    return { field, transform: [], color: only ? { value: only } : undefined, offset: undefined };
  }
  const colors = channels.y.map(
    ({ member }, i) => visualization.series?.[member]?.color ?? visualization.palette?.[i],
  );
  const scale = { domain: all, ...rangeOf(colors) };
  const hasTitles = channels.y.some(
    ({ member }) => visualization.series?.[member]?.title || describe?.(member),
  );
  const named = legend && hasTitles ? { ...legend, labelExpr: labelsOf(drawing) } : legend;
  // A measure of its own keeps its name, by which axes find how it is written.
  if (measures.length === 1 && !channels.color) {
    const field = fieldOf(measures[0]!.member);
    return {
      field,
      transform: [],
      color: { datum: field, type: 'nominal', scale, legend: named },
      offset: undefined,
    };
  }
  const fields = measures.map(({ member }) => fieldOf(member));
  const transform: Part[] = [{ fold: fields, as: [KEY, VALUE] }];
  if (channels.color) {
    const by = fieldOf(channels.color.member);
    const titles = Object.fromEntries(
      channels.y.map(({ member }) => [fieldOf(member), titleOf(drawing, member)]),
    );
    transform.push({
      calculate: `toString(${datum(by)}) + ', ' + (${quoted(titles)})[${datum(KEY)}]`,
      as: NAME,
    });
    return {
      field: VALUE,
      transform,
      color: { field: NAME, type: 'nominal', sort: null, legend },
      offset: { field: NAME, type: 'nominal', sort: null },
    };
  }
  return {
    field: VALUE,
    transform,
    color: {
      field: KEY,
      type: 'nominal',
      sort: all,
      scale,
      legend: named,
    },
    offset: { field: KEY, type: 'nominal', sort: all },
  };
}

export const titleOf = (
  { visualization, describe }: Pick<Drawing, 'visualization' | 'describe'>,
  member: string,
) => {
  const base = baseOf(member);
  return visualization.series?.[base]?.title || describe?.(base)?.shortTitle || base.split('.').at(-1)!;
};

/** Legends name measures by their titles, and those of an earlier period in the words of the page. */
function labelsOf(drawing: Drawing): string {
  const entries = drawing.channels.y.map((column) => {
    const title = quoted(titleOf(drawing, column.member));
    const text = isEarlier(column) ? `${EARLIER_WORDS}[0] + ${title} + ${EARLIER_WORDS}[1]` : title;
    return `${quoted(fieldOf(column.member))}:${text}`;
  });
  return `({${entries.join(',')}})[datum.value]`;
}

/** Colours count only if every series has one: otherwise those of the theme would be used twice. */
const rangeOf = (colors: (string | undefined)[]): Part =>
  colors.every((color) => color !== undefined) && colors.length ? { range: colors } : {};

/** The colours of the values of a dimension. */
export function colorOf(
  { visualization }: Pick<Drawing, 'visualization'>,
  field: string,
  values: string[],
): Part {
  const colors = values.map((value, i) => visualization.series?.[value]?.color ?? visualization.palette?.[i]);
  const ofValues = rangeOf(colors as (string | undefined)[]);
  const scale: Part = ofValues.range
    ? { domain: values, ...ofValues }
    : visualization.palette?.length
      ? { range: visualization.palette }
      : {};
  const hasTitles = values.some((value) => visualization.series?.[value]?.title);
  const titles = Object.fromEntries(
    values.map((value) => [value, visualization.series?.[value]?.title || value]),
  );
  const legend = legendOf(visualization);
  return {
    field,
    type: 'nominal',
    sort: ofValues.range ? values : null,
    ...(Object.keys(scale).length ? { scale } : {}),
    legend:
      legend && hasTitles
        ? { ...legend, labelExpr: `(${quoted(titles)})[datum.value] || datum.label` }
        : legend,
  };
}

const EARLIER_DASH = [5, 4];
const CURVES: Record<string, string> = { straight: 'linear', smooth: 'monotone', step: 'step-after' };

function markOf(
  { visualization, isHorizontal, isStacked }: Drawing,
  mark: Mark,
  measures: Column[],
  isSeries: boolean,
) {
  if (mark === 'bar') return { type: 'bar', ...(isStacked ? {} : { cornerRadiusEnd: 3 }) };
  const shape = {
    interpolate: CURVES[visualization.curve ?? 'straight'],
    ...(visualization.emptyValues === 'connect' ? { invalid: 'filter' } : {}),
    ...(isHorizontal ? { orient: 'horizontal' } : {}),
  };
  const point = visualization.points === true;
  if (measures.every(isEarlier)) return { type: 'line', point, strokeDash: EARLIER_DASH, ...shape };
  if (mark === 'line') return { type: 'line', point, ...shape };
  return { type: 'area', line: true, point, opacity: isSeries || measures.length > 1 ? 0.7 : 0.25, ...shape };
}

/** Rows without a value count as zero. Periods without rows are added by the page. */
const gapsOf = ({ emptyValues }: Visualization, measures: Column[]): Part[] =>
  emptyValues === 'zero'
    ? measures.map(({ member }) => {
        const field = fieldOf(member);
        return { calculate: `isValid(${datum(field)}) ? ${datum(field)} : 0`, as: field };
      })
    : [];

/** The values at the marks. */
function labelSpec(drawing: Drawing, { mark, measures }: Layer, spec: Part): Part | undefined {
  const { visualization, isHorizontal, describe } = drawing;
  const { labels } = visualization;
  if (labels !== 'value' && labels !== 'percent') return undefined;
  const { color: _color, ...encoding } = spec.encoding as Part;
  const names = isHorizontal ? 'y' : 'x';
  const isBar = mark === 'bar';
  const value = (isHorizontal ? encoding.x : encoding.y) as { field: string; stack?: unknown };
  const isInside = drawing.isStacked && mark !== 'line';
  const formats = new Set(measures.map(({ member }) => formatOf(member, visualization, describe)));
  const [format] = formats.size === 1 ? formats : ['.3~s'];
  const place = isInside
    ? { align: 'center', baseline: 'middle', color: 'white' }
    : isHorizontal
      ? { align: 'left', baseline: 'middle', dx: 4 }
      : { align: 'center', baseline: 'bottom', dy: -4 };
  return {
    ...(spec.transform ? { transform: spec.transform } : {}),
    mark: { type: 'text', fontSize: 11, ...place },
    encoding: {
      ...encoding,
      ...(isBar ? { [names]: { ...(encoding[names] as Part), bandPosition: 0.5 } } : {}),
      ...(isInside
        ? { [isHorizontal ? 'x' : 'y']: { ...value, bandPosition: 0.5 }, detail: detailOf(spec) }
        : {}),
      text: { field: value.field, type: 'quantitative', format },
    },
  };
}

/** What stacks the labels like their bars. */
function detailOf(spec: Part): Part | undefined {
  const { color } = spec.encoding as { color?: { field?: string } };
  return color?.field ? { field: color.field, type: 'nominal' } : undefined;
}

function withFacet({ channels, visualization }: Drawing, body: Part): Part {
  if (!channels.facet) return body;
  return facetOf(channels.facet, visualization, body);
}

const SMALL = { width: 220, height: 150 };

/**
 * Makes a part fit a small chart, which has no signals for its size. Transforms over its rows must be grouped by the
 * facet.
 */
function asSmall(part: unknown, by: string, key?: string): unknown {
  if (Array.isArray(part)) return part.map((each) => asSmall(each, by));
  if (typeof part === 'object' && part !== null) {
    const entries = Object.entries(part).map(([name, value]) => [name, asSmall(value, by, name)]);
    const isOverRows = 'window' in part || 'joinaggregate' in part;
    return { ...Object.fromEntries(entries), ...(isOverRows ? { groupby: [by] } : {}) };
  }
  if (key !== 'expr' || typeof part !== 'string') return part;
  return part.replaceAll(/\b(width|height)\b/g, (name) => String(SMALL[name as keyof typeof SMALL]));
}

/** A small chart for each value of a dimension. */
export function facetOf(column: Column, { facetColumns }: Visualization, body: Part): Part {
  const spec = { ...SMALL, ...(asSmall(body, fieldOf(column.member)) as Part) };
  return {
    facet: {
      field: fieldOf(column.member),
      type: column.kind === 'time' ? 'ordinal' : 'nominal',
      sort: null,
      ...(column.kind === 'time' ? { timeUnit: 'utcyearmonthdate' } : {}),
      header: { title: null },
    },
    columns: facetColumns ?? 3,
    spec,
  };
}
