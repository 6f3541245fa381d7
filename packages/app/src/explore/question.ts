/** The state of a question as pure functions: what is asked for, and how the answer is shown. */
import type { Visualization } from '@oriel/visualization';
import { type Calculated, fromCalculated } from './calculated.ts';

export type Direction = 'asc' | 'desc';

export interface Comparison {
  id: string;
  member: string;
  operator: string;
  values: string[];
}

export interface FilterGroup {
  id: string;
  join: 'and' | 'or';
  filters: FilterNode[];
}

export type FilterNode = Comparison | FilterGroup;

export interface Time {
  dimension: string;
  granularity: string;
}

/** How far back the period lies that the answer is compared with. */
export interface ComparisonOffset {
  amount: number;
  unit: 'day' | 'week' | 'month' | 'quarter' | 'year';
}

export interface Question {
  /** The view or cube whose members are offered. */
  source: string | undefined;
  measures: string[];
  dimensions: string[];
  times: Time[];
  segments: string[];
  /** Columns that are computed for this question alone. */
  calculated: Calculated[];
  /** All must be true. */
  filters: FilterNode[];
  order: [key: string, direction: Direction][];
  limit: number | undefined;
  timezone: string | undefined;
  compare: ComparisonOffset | undefined;
  /** The chosen type; undefined until a person chooses one: then the best fit is shown. */
  visualization: Visualization | undefined;
  /** Vega-Lite that somebody wrote by hand: it is drawn in place of what the settings say. */
  vegaLite: Record<string, unknown> | undefined;
  /** Parts of the query that the app has no control for. They stay as somebody wrote them. */
  others: Record<string, unknown>;
}

export interface JsonQuery {
  measures?: string[];
  dimensions?: string[];
  timeDimensions?: { dimension: string; granularity?: string; dateRange?: string | string[] }[];
  filters?: JsonFilter[];
  segments?: string[];
  calculated?: Calculated[];
  order?: [string, Direction][] | Record<string, Direction>;
  limit?: number;
  timezone?: string;
  [other: string]: unknown;
}

export type JsonFilter =
  | { member: string; operator: string; values?: (string | number | boolean | null)[] }
  | { and: JsonFilter[] }
  | { or: JsonFilter[] };

export const LIMIT = 5000;
export const LIMIT_MAX = 50_000;

export const emptyQuestion = (source?: string): Question => ({
  source,
  measures: [],
  dimensions: [],
  times: [],
  segments: [],
  calculated: [],
  filters: [],
  order: [],
  limit: undefined,
  timezone: undefined,
  compare: undefined,
  visualization: undefined,
  vegaLite: undefined,
  others: {},
});

export const isGroup = (node: FilterNode): node is FilterGroup => 'join' in node;
export const timeKey = ({ dimension, granularity }: Time) => `${dimension}.${granularity}`;
export const isAsked = ({ measures, dimensions, times, calculated }: Question) =>
  measures.length + dimensions.length + times.length + calculated.length > 0;

/** The keys of the columns that rows are grouped by. */
export const groupKeys = ({ dimensions, times }: Question): string[] => [
  ...times.map(timeKey),
  ...dimensions,
];

/** The keys of the columns that hold values. */
export const valueKeys = ({ measures, calculated }: Question): string[] => [
  ...measures,
  ...calculated.map(({ name }) => name),
];

/** The keys of the columns of the answer. */
export const columnKeys = (question: Question): string[] => [...groupKeys(question), ...valueKeys(question)];

/** Whether a member is asked for, at any granularity. */
export const hasMember = ({ measures, dimensions, times, segments }: Question, member: string) =>
  measures.includes(member) ||
  dimensions.includes(member) ||
  segments.includes(member) ||
  times.some(({ dimension }) => dimension === member);

const WITHOUT_VALUES = ['set', 'notSet'];

/** A comparison that says nothing yet is left out of the query. */
export const isComplete = (node: FilterNode): boolean =>
  isGroup(node)
    ? node.filters.some(isComplete)
    : WITHOUT_VALUES.includes(node.operator) || node.values.some((value) => value !== '');

/** A range of time that all rows are limited to: it is what can be moved to an earlier period. */
const isRange = (node: FilterNode): node is Comparison => !isGroup(node) && node.operator === 'inDateRange';

const rangeOf = ({ values }: Comparison): string | string[] =>
  values.length > 1 ? values.slice(0, 2) : values[0]!;

function toFilter(node: FilterNode): JsonFilter | undefined {
  if (!isComplete(node)) return undefined;
  if (isGroup(node)) {
    const filters = node.filters.map(toFilter).filter((filter) => filter !== undefined);
    return node.join === 'and' ? { and: filters } : { or: filters };
  }
  const { member, operator, values } = node;
  return WITHOUT_VALUES.includes(operator)
    ? { member, operator }
    : { member, operator, values: values.filter((value) => value !== '') };
}

/** The query as it is sent and stored. */
export function toQuery(question: Question): JsonQuery {
  const { measures, dimensions, times, segments, calculated, order, limit, timezone } = question;
  const ranges = new Map<string, Comparison>();
  const others: FilterNode[] = [];
  for (const node of question.filters) {
    // Of two ranges of one time, the second is an ordinary filter.
    if (isRange(node) && isComplete(node) && !ranges.has(node.member)) ranges.set(node.member, node);
    else others.push(node);
  }
  const named = new Set(times.map(({ dimension }) => dimension));
  const timeDimensions = [
    ...times.map(({ dimension, granularity }) => {
      const range = ranges.get(dimension);
      return { dimension, granularity, ...(range ? { dateRange: rangeOf(range) } : {}) };
    }),
    ...[...ranges.values()]
      .filter(({ member }) => !named.has(member))
      .map((range) => ({ dimension: range.member, dateRange: rangeOf(range) })),
  ];
  const filters = others.map(toFilter).filter((filter) => filter !== undefined);
  const keys = new Set(columnKeys(question));
  const sorted = order.filter(([key]) => keys.has(key));
  return {
    ...(measures.length ? { measures } : {}),
    ...(dimensions.length ? { dimensions } : {}),
    ...(timeDimensions.length ? { timeDimensions } : {}),
    ...(filters.length ? { filters } : {}),
    ...(segments.length ? { segments } : {}),
    ...(calculated.length ? { calculated } : {}),
    ...(sorted.length ? { order: sorted } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(timezone ? { timezone } : {}),
    ...question.others,
  };
}

let count = 0;
/** Different for each filter of a page: lists are drawn by it. */
export const newId = () => `f${++count}`;

export const comparison = (member: string, operator: string, values: string[] = []): Comparison => ({
  id: newId(),
  member,
  operator,
  values,
});
export const group = (join: 'and' | 'or', filters: FilterNode[]): FilterGroup => ({
  id: newId(),
  join,
  filters,
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const texts = (value: unknown): string[] =>
  (Array.isArray(value) ? value : []).filter((each): each is string => typeof each === 'string');

function fromFilter(filter: unknown, depth = 0): FilterNode[] {
  if (!isObject(filter) || depth > 10) return [];
  for (const join of ['and', 'or'] as const)
    if (Array.isArray(filter[join]))
      return [
        group(
          join,
          filter[join].flatMap((inner) => fromFilter(inner, depth + 1)),
        ),
      ];
  const member = filter.member ?? filter.dimension;
  if (typeof member !== 'string' || typeof filter.operator !== 'string') return [];
  const values = (Array.isArray(filter.values) ? filter.values : []).map(String);
  return [comparison(member, filter.operator, values)];
}

const OTHERS = ['offset', 'ungrouped', 'joinHints', 'total'];
/** The parts of a query that the app has no control for. */
export const othersOf = (query: Record<string, unknown>) =>
  Object.fromEntries(OTHERS.flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])));

/** A stored or pasted query as a question. */
export function fromQuery(query: object): Question {
  const given = query as Record<string, unknown>;
  const dimensions: string[] = [];
  const times: Time[] = [];
  for (const name of texts(given.dimensions)) {
    const [cube, member, granularity] = name.split('.');
    if (granularity) times.push({ dimension: `${cube}.${member}`, granularity });
    else dimensions.push(name);
  }
  const ranges: FilterNode[] = [];
  for (const time of Array.isArray(given.timeDimensions) ? given.timeDimensions.filter(isObject) : []) {
    const { dimension, granularity, dateRange } = time;
    if (typeof dimension !== 'string') continue;
    if (typeof granularity === 'string') times.push({ dimension, granularity });
    const range = typeof dateRange === 'string' ? [dateRange] : texts(dateRange);
    const isNew = !ranges.some((known) => !isGroup(known) && known.member === dimension);
    if (range.length && isNew) ranges.push(comparison(dimension, 'inDateRange', range));
  }
  const measures = texts(given.measures);
  const filters = (Array.isArray(given.filters) ? given.filters : []).flatMap((filter) => fromFilter(filter));
  const calculated = fromCalculated(given.calculated);
  const [first] = [
    ...measures,
    ...dimensions,
    ...times.map(({ dimension }) => dimension),
    ...calculated.flatMap(({ of }) => (of?.includes('.') ? [of] : [])),
  ];
  const limit = given.limit ?? given.rowLimit;
  return {
    ...emptyQuestion(first?.split('.')[0]),
    measures,
    dimensions,
    times,
    segments: texts(given.segments),
    calculated,
    filters: [...ranges, ...filters],
    order: orderOf(given.order, times),
    limit: typeof limit === 'number' ? limit : undefined,
    timezone: typeof given.timezone === 'string' ? given.timezone : undefined,
    others: othersOf(given),
  };
}

/** In each form that queries know. The plain name of a time stands for its granularity. */
function orderOf(order: unknown, times: Time[]): [string, Direction][] {
  const pairs: [unknown, unknown][] = isObject(order)
    ? Object.entries(order)
    : (Array.isArray(order) ? order : []).map((item) =>
        isObject(item) ? [item.id, item.desc ? 'desc' : 'asc'] : [item?.[0], item?.[1]],
      );
  return pairs.flatMap(([key, direction]): [string, Direction][] => {
    if (typeof key !== 'string') return [];
    const time = times.find(({ dimension }) => dimension === key);
    return [[time ? timeKey(time) : key, direction === 'desc' ? 'desc' : 'asc']];
  });
}
