/** Which type fits a result, and why. Reasons are names, so that pages can say them in the language of the reader. */
import { columnsOf, describeAll, placesOf } from './columns.ts';
import type { Describe, QueryColumns, VisualizationType } from './types.ts';

/** What decides: how many columns of each kind, and how many rows. */
export interface ResultShape {
  times: number;
  dimensions: number;
  /** Dimensions that are numbers. */
  numbers: number;
  measures: number;
  /** Unknown before the query has run. */
  rows?: number | undefined;
  /** How many values the first dimension has. */
  values?: number | undefined;
  /** Whether a dimension holds countries. */
  hasPlaces?: boolean;
  /** Whether there are numbers that are called latitude and longitude. */
  hasCoordinates?: boolean;
  /** Whether all measures can be added up, so that parts make a whole. */
  isAdditive?: boolean;
  /** Whether some measures are shares and others are not. */
  hasMixedUnits?: boolean;
  /** Whether some measures are calculated from others, so that they go together in any case. */
  hasCalculated?: boolean;
  /** How many characters all values of the first dimension have. */
  characters?: number | undefined;
}

export type Reason =
  | 'onlyMeasure'
  | 'measuresOnly'
  | 'overTime'
  | 'overTimeBySeries'
  | 'differentUnits'
  | 'byPlace'
  | 'byPoint'
  | 'fewParts'
  | 'rankedNames'
  | 'fewNames'
  | 'twoGroups'
  | 'twoMeasures'
  | 'threeMeasures'
  | 'spread'
  | 'details'
  | 'always';

/** What a type that does not fit would need. */
export type Need =
  | 'measure'
  | 'twoMeasures'
  | 'threeMeasures'
  | 'group'
  | 'twoGroups'
  | 'place'
  | 'coordinates'
  | 'numberOrMeasure'
  | 'twoMeasuresOrGroup';

export interface Recommendation {
  type: VisualizationType;
  reason: Reason;
}

export interface Fit {
  type: VisualizationType;
  /** What is missing; absent if the type can be drawn. */
  needs?: Need;
}

const FEW = 6;
const NAMES = 12;
/** The number of characters that fit in one line below the columns of a usual chart. */
const CHARACTERS = 110;

/** Returns the types that fit, the best first. There is always one: a table shows everything. */
export function recommend(shape: ResultShape): Recommendation[] {
  const { times, dimensions, numbers, measures, rows, values } = shape;
  const groups = times + dimensions + numbers;
  const found: Recommendation[] = [];
  const add = (type: VisualizationType, reason: Reason) => {
    if (!found.some((each) => each.type === type) && fits(shape, type)) found.push({ type, reason });
  };
  if (shape.hasCoordinates && times === 0) add('pointMap', 'byPoint');
  if (groups === 0 && measures === 1) add('kpi', 'onlyMeasure');
  if (groups === 0 && measures > 1) add('column', 'measuresOnly');
  if (times > 0 && measures > 0) {
    if (measures === 2 && shape.hasMixedUnits && dimensions === 0) add('combo', 'differentUnits');
    add('line', dimensions > 0 ? 'overTimeBySeries' : 'overTime');
    add(dimensions > 0 ? 'area' : 'column', dimensions > 0 ? 'overTimeBySeries' : 'overTime');
    if (dimensions > 0) add('heatmap', 'twoGroups');
  }
  if (times === 0 && shape.hasPlaces && dimensions === 1 && measures > 0) add('map', 'byPlace');
  if (times === 0 && groups === 1 && measures === 1) {
    const count = values ?? rows;
    const isShort = (shape.characters ?? 0) <= CHARACTERS;
    if (count !== undefined && count <= NAMES && isShort) add('column', 'fewNames');
    add('bar', 'rankedNames');
    if (shape.isAdditive !== false && count !== undefined && count <= FEW) add('donut', 'fewParts');
  }
  const isIndependent = !shape.hasCalculated;
  if (times === 0 && groups > 0 && measures >= 3 && isIndependent) add('bubble', 'threeMeasures');
  if (times === 0 && groups === 1 && measures === 2)
    if (isIndependent) add('scatter', 'twoMeasures');
    else if (shape.hasMixedUnits) add('combo', 'differentUnits');
  if (times === 0 && groups === 1 && measures > 1) add('column', 'measuresOnly');
  if (times === 0 && groups === 2 && measures > 0) {
    add('column', 'twoGroups');
    add('heatmap', 'twoGroups');
    add('pivot', 'twoGroups');
  }
  if (numbers > 0) add('histogram', 'spread');
  add('table', groups > 2 || measures === 0 || measures > 4 ? 'details' : 'always');
  // With many columns, or none to measure, a table comes first.
  if (found[0]?.type !== 'table' && (groups > 2 || measures === 0) && found[0]?.type !== 'pointMap')
    return [...found.filter(({ type }) => type === 'table'), ...found.filter(({ type }) => type !== 'table')];
  return found;
}

/** Every type, with what it would need. */
export const fitsOf = (shape: ResultShape, types: readonly VisualizationType[]): Fit[] =>
  types.map((type) => {
    const needs = needsOf(shape, type);
    return needs ? { type, needs } : { type };
  });

const fits = (shape: ResultShape, type: VisualizationType) => needsOf(shape, type) === undefined;

function needsOf(
  { times, dimensions, numbers, measures, hasPlaces }: ResultShape,
  type: VisualizationType,
): Need | undefined {
  const groups = times + dimensions + numbers;
  switch (type) {
    case 'table':
    case 'text':
      return undefined;
    case 'kpi':
    case 'gauge':
      return measures < 1 ? 'measure' : undefined;
    case 'pie':
    case 'donut':
    case 'funnel':
      if (measures < 1) return 'measure';
      return groups < 1 && measures < 2 ? 'twoMeasuresOrGroup' : undefined;
    case 'scatter':
      return measures < 2 && !(measures === 1 && numbers > 0) ? 'twoMeasures' : undefined;
    case 'bubble':
      return measures < 3 ? 'threeMeasures' : undefined;
    case 'histogram':
      return measures + numbers < 1 ? 'numberOrMeasure' : undefined;
    case 'heatmap':
      if (measures < 1) return 'measure';
      return groups < 2 ? 'twoGroups' : undefined;
    case 'combo':
      if (measures < 2) return 'twoMeasures';
      return groups < 1 ? 'group' : undefined;
    case 'pointMap':
      return numbers + measures < 2 ? 'coordinates' : undefined;
    case 'map':
      if (measures < 1) return 'measure';
      return dimensions < 1 || hasPlaces === false ? 'place' : undefined;
    default:
      if (measures < 1) return 'measure';
      return groups < 1 ? 'group' : undefined;
  }
}

const PLACES = /(^|_)(country|countries|country_code|nation)(_|$)/;
const SHARES = ['percent'];

/** The shape of a query and, if they are there, of its rows. */
export function shapeOf(
  query: QueryColumns,
  known?: Describe,
  rows?: readonly Record<string, unknown>[],
): ResultShape {
  const describe = describeAll(query, known);
  const columns = columnsOf(query, describe);
  const count = (kind: string) => columns.filter((column) => column.kind === kind).length;
  const [first] = columns.filter(({ kind }) => kind === 'dimension' || kind === 'number');
  const measures = columns.filter(({ kind }) => kind === 'measure');
  const names = first && rows && new Set(rows.map((row) => row[first.member]));
  const formats = measures.map(({ member }) => SHARES.includes(describe?.(member)?.format ?? ''));
  return {
    times: count('time'),
    dimensions: count('dimension'),
    numbers: count('number'),
    measures: measures.length,
    rows: rows?.length,
    values: names?.size,
    characters: names && [...names].reduce((sum: number, name) => sum + String(name).length, 0),
    hasCalculated: (query.calculated?.length ?? 0) > 0,
    hasPlaces: columns.some(
      ({ kind, member }) => kind === 'dimension' && PLACES.test(member.split('.')[1] ?? ''),
    ),
    hasCoordinates: Object.values(placesOf(columns)).every(Boolean),
    isAdditive:
      !formats.some(Boolean) && !measures.some(({ member }) => /avg|average|rate|ratio|per_/.test(member)),
    hasMixedUnits: new Set(measures.map(({ member }) => describe?.(member)?.format ?? 'number')).size > 1,
  };
}
