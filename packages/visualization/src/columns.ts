/** The columns that the rows of a query have, and which of them a chart shows where. */
import {
  type CalculatedField,
  type Describe,
  type QueryColumns,
  type Visualization,
  VisualizationError,
  type VisualizationType,
} from './types.ts';

export type ColumnKind = 'time' | 'dimension' | 'number' | 'measure';

export interface Column {
  /** The key of its values in rows: a member, with the granularity of a time. */
  member: string;
  kind: ColumnKind;
  granularity?: string;
}

/** Vega takes a dot for a part of a field. */
export const fieldOf = (member: string) => member.replaceAll('.', '__');

/** What the text of a query says. Planners refuse whatever is wrong with it in words of their own. */
export function readAsked(query: object | null): QueryColumns {
  const { measures, dimensions, timeDimensions, calculated } = (query ?? {}) as Record<string, unknown>;
  const texts = (list: unknown) =>
    (Array.isArray(list) ? list : []).filter((each): each is string => typeof each === 'string');
  const times = (Array.isArray(timeDimensions) ? timeDimensions : []).filter(
    (time) => typeof time?.dimension === 'string',
  );
  const fields = (Array.isArray(calculated) ? calculated : []).filter(
    (field): field is CalculatedField => typeof field?.name === 'string',
  );
  return {
    ...(fields.length ? { calculated: fields } : {}),
    measures: texts(measures),
    dimensions: texts(dimensions),
    timeDimensions: times.map(({ dimension, granularity }) => ({
      dimension,
      ...(typeof granularity === 'string' ? { granularity } : {}),
    })),
  };
}

/** The columns that hold values: measures, and what is calculated. */
export const valuesOf = ({ measures = [], calculated = [] }: QueryColumns): string[] => [
  ...measures,
  ...calculated.map(({ name }) => name),
];

const PERCENT = ['shareOfTotal', 'percentDifference'];

/** The model does not know the fields that the query calculates. */
export const describeAll =
  ({ calculated = [] }: QueryColumns, describe?: Describe): Describe =>
  (member) => {
    const field = calculated.find(({ name }) => name === member);
    if (!field) return describe?.(member);
    const { name, kind = '', title, format = PERCENT.includes(kind) ? 'percent' : undefined } = field;
    const text = name.replaceAll('_', ' ').replace(/(^| )./g, (letters) => letters.toUpperCase());
    return { shortTitle: title ?? text, type: 'number', ...(format ? { format } : {}) };
  };

const NUMBERS = ['number'];

export function columnsOf(query: QueryColumns, describe?: Describe): Column[] {
  const times = (query.timeDimensions ?? []).flatMap(({ dimension, granularity }): Column[] =>
    granularity ? [{ member: `${dimension}.${granularity}`, kind: 'time', granularity }] : [],
  );
  const dimensions = (query.dimensions ?? []).map((member): Column => {
    const [cube, name, granularity] = member.split('.');
    if (granularity) return { member, kind: 'time', granularity };
    const type = describe?.(`${cube}.${name}`)?.type;
    return { member, kind: NUMBERS.includes(type ?? '') ? 'number' : 'dimension' };
  });
  const measures = valuesOf(query).map((member): Column => ({ member, kind: 'measure' }));
  return [...times, ...dimensions, ...measures];
}

/** Comparisons with earlier periods, as far as the query still gives what they are about. */
export function comparisonsOf({ periodComparisons }: Visualization, query: QueryColumns) {
  const measures = new Set(query.measures);
  const times = new Set(query.timeDimensions?.map(({ dimension }) => dimension));
  return (periodComparisons ?? []).filter(
    ({ measure, timeDimension }) => measures.has(measure) && times.has(timeDimension),
  );
}

/** The columns of a chart by what they are for. */
export interface Channels {
  x: Column | undefined;
  y: Column[];
  color: Column | undefined;
  size: Column | undefined;
  detail: Column | undefined;
  facet: Column | undefined;
}

const withoutSeries: VisualizationType[] = [
  'pie',
  'donut',
  'funnel',
  'waterfall',
  'gauge',
  'kpi',
  'histogram',
  'map',
  'pointMap',
  'text',
];

/**
 * What the settings choose, as far as the query still gives it, and what fits best for the rest: a time along the axis, and
 * all measures as series. So settings stay good when the query changes.
 */
export function channelsOf(visualization: Visualization, columns: readonly Column[]): Channels {
  const { type, fields } = visualization;
  const find = (member: string | null | undefined) =>
    member == null
      ? undefined
      : (columns.find((column) => column.member === member) ??
        // A time whose granularity was changed.
        columns.find((column) => column.kind === 'time' && baseOf(column.member) === baseOf(member)));
  const measures = columns.filter(({ kind }) => kind === 'measure');
  const chosen = (fields?.y ?? []).map(find).filter((column) => column !== undefined);
  const facet = find(fields?.facet);
  const detail = find(fields?.detail);
  const taken = new Set([facet, detail].filter(Boolean));
  const free = columns.filter((column) => column.kind !== 'measure' && !taken.has(column));
  const ofColor = find(fields?.color);
  const x = find(fields?.x) ?? axisOf(free.filter((column) => column !== ofColor)) ?? axisOf(free);
  const rest = free.filter((column) => column !== x && column !== ofColor);
  const isSeries = !withoutSeries.includes(type);
  const color = ofColor === x ? undefined : (ofColor ?? (isSeries ? rest[0] : undefined));
  return {
    x,
    y: chosen.length ? chosen : measures,
    color,
    size: find(fields?.size),
    detail: detail ?? rest.find((column) => column !== color),
    facet,
  };
}

const baseOf = (member: string) => member.split('.').slice(0, 2).join('.');

const axisOf = (columns: readonly Column[]) => columns.find(({ kind }) => kind === 'time') ?? columns[0];

const LATITUDE = /(^|_)(lat|latitude)(_|$)/;
const LONGITUDE = /(^|_)(lon|lng|long|longitude)(_|$)/;

/** Where points are: what the settings choose, or the numbers that are called so. */
export function placesOf(columns: readonly Column[], fields?: Visualization['fields']) {
  const numbers = columns.filter(({ kind }) => kind === 'number' || kind === 'measure');
  const find = (member: string | null | undefined, pattern: RegExp) =>
    numbers.find((column) => column.member === member) ??
    numbers.find((column) => pattern.test(column.member.split('.').at(-1)!));
  return { latitude: find(fields?.latitude, LATITUDE), longitude: find(fields?.longitude, LONGITUDE) };
}

/** Throws unless the query gives a measure. */
export function requireMeasures(y: readonly Column[], least = 1): void {
  if (y.length < least)
    throw new VisualizationError(
      'fields.y',
      least === 1
        ? 'needs a measure: the query has none'
        : `needs ${least} measures: the query has ${y.length}`,
    );
}

export function requireColumn(column: Column | undefined, field: string): Column {
  if (!column)
    throw new VisualizationError(`fields.${field}`, 'needs a dimension or a time: the query has none');
  return column;
}
