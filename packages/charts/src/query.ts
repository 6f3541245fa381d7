/** From what a report asks for to what the page asks the server for: filters, time grain, time zone, other periods. */

import { add, addDays, clockIn, daysOf, isDate, startOf, todayIn, unitOf } from './dates.ts';
import type { FilterValue, Offset, Query, Result, Row, Snapshot, Widget } from './types.ts';
import { takesGrain } from './vega/time-units.ts';

const OPERATORS: Record<string, string> = {
  equals: 'equals',
  not_equals: 'notEquals',
  greater_than: 'gt',
  greater_than_or_equal: 'gte',
  less_than: 'lt',
  less_than_or_equal: 'lte',
  contains: 'contains',
  not_contains: 'notContains',
  starts_with: 'startsWith',
  not_starts_with: 'notStartsWith',
  ends_with: 'endsWith',
  not_ends_with: 'notEndsWith',
  is_null: 'notSet',
  is_not_null: 'set',
  is_empty: 'equals',
  is_not_empty: 'notEquals',
};
const KNOWN = new Set([
  ...Object.values(OPERATORS),
  'inDateRange',
  'notInDateRange',
  'beforeDate',
  'afterDate',
]);
const WITHOUT_VALUES = ['set', 'notSet'];

/** What a row of a chart has and others do not: a value of a dimension, or a bucket of time, which includes its last day or second. */
export type Narrowing =
  | { member: string; value: string | null }
  | { member: string; range: [string, string] };

/** What a click on a chart keeps of the others, by the id of its widget. */
export type CrossFilters = ReadonlyMap<string, { narrowings: readonly Narrowing[] }>;

export interface Choices {
  filters: ReadonlyMap<string, FilterValue>;
  grains: ReadonlyMap<string, string>;
  timezone: string | undefined;
  crossFilters?: CrossFilters;
  /** What relative times are relative to. */
  askedAt?: Date;
}

const ownerOf = (member: string) => member.split('.')[0];

/** The members that a query names. */
export const membersOf = ({
  measures = [],
  dimensions = [],
  timeDimensions = [],
  calculated = [],
}: Query): string[] => [
  ...measures,
  ...dimensions,
  ...timeDimensions.map(({ dimension }) => dimension),
  ...calculated.flatMap(({ of }) => (of?.includes('.') ? [of] : [])),
];

/** The columns that hold values: measures, and what is calculated. */
export const valuesOf = ({ measures = [], calculated = [] }: Query): string[] => [
  ...measures,
  ...calculated.map(({ name }) => name),
];

/**
 * The member by which a control filters a chart, or undefined if it does not reach it. It is that which the author chose for the
 * chart (null for none), or else the control's own, of charts that it names or that are about the same view or cube.
 */
export function reachedBy(config: Widget['config'], query: Query, widgetId: string): string | undefined {
  const member: unknown = config?.member;
  if (typeof member !== 'string') return undefined;
  const named = Array.isArray(config!.widgets) && config!.widgets.length ? config!.widgets : undefined;
  if (named && !named.includes(widgetId)) return undefined;
  const mapped = config!.mapping?.[widgetId];
  if (mapped === null) return undefined;
  if (typeof mapped === 'string') return mapped;
  return named || membersOf(query).some((one) => ownerOf(one) === ownerOf(member)) ? member : undefined;
}

export function queryFor(
  snapshot: Snapshot,
  widgetId: string,
  { filters, grains, timezone, crossFilters, askedAt }: Choices,
  filterWidgets: readonly Widget[],
): Query {
  const query: Query = structuredClone(snapshot.meta?.query ?? {});
  for (const [member, filter] of filters) {
    const reached = filterWidgets
      .filter(({ config }) => config?.member === member)
      .map(({ config }) => reachedBy(config, query, widgetId))
      .find(Boolean);
    if (reached) addFilter(query, reached, filter);
  }
  for (const time of query.timeDimensions ?? []) {
    const grain = grains.get(time.dimension);
    if (grain && time.granularity && takesGrain(snapshot.spec, time, query, grain)) time.granularity = grain;
  }
  if (timezone) query.timezone = timezone;
  for (const { narrowing } of crossing(query, widgetId, crossFilters)) narrow(query, narrowing, askedAt);
  return query;
}

/**
 * The values that a control offers. A faceted control offers only values that occur together with the settings of the
 * other controls of the view.
 */
export function valuesQuery(
  { config }: Pick<Widget, 'config'>,
  { filters, timezone }: Pick<Choices, 'filters' | 'timezone'>,
  limit: number,
  search = '',
): Query {
  const member: string = config!.member;
  const query: Query = { dimensions: [member], order: { [member]: 'asc' }, limit };
  if (search) query.filters = [{ member, operator: 'contains', values: [search] }];
  for (const [other, filter] of config!.faceted === true ? filters : [])
    if (other !== member && ownerOf(other) === ownerOf(member)) addFilter(query, other, filter);
  if (timezone && query.timeDimensions) query.timezone = timezone;
  return query;
}

/** What clicks on other charts keep of a chart: those about the same view or cube. */
export function crossing(query: Query, widgetId: string, crossFilters: CrossFilters = new Map()) {
  const owners = new Set(membersOf(query).map(ownerOf));
  return [...crossFilters].flatMap(([source, { narrowings }]) =>
    source === widgetId
      ? []
      : narrowings
          .filter(({ member }) => owners.has(ownerOf(member)))
          .map((narrowing) => ({ source, narrowing })),
  );
}

/** Changes the query, so that it keeps only the rows that fit the narrowing. */
export function narrow(query: Query, narrowing: Narrowing, now?: Date) {
  const { member } = narrowing;
  const keep = (operator: string, values?: string[]) => {
    query.filters = [...(query.filters ?? []), { member, operator, ...(values ? { values } : {}) }];
  };
  if (!('range' in narrowing))
    return narrowing.value === null ? keep('notSet') : keep('equals', [narrowing.value]);
  const { range } = narrowing;
  const time = query.timeDimensions?.find(({ dimension }) => dimension === member);
  if (!time) {
    query.timeDimensions = [...(query.timeDimensions ?? []), { dimension: member, dateRange: range }];
    return;
  }
  const common = 'compareDateRange' in time ? undefined : commonRange(time.dateRange, range, query, now);
  // Without a range that both have, the server decides what is in both.
  if (common) time.dateRange = common;
  else keep('inDateRange', range);
}

const endOf = (time: string) => (time.length > 10 ? time : `${time}T23:59:59`);

/** The range that both have: a bucket at the edge of the range of a query may lie partly outside. */
function commonRange(
  given: string | string[] | undefined,
  [from, to]: [string, string],
  { timezone = 'UTC' }: Query,
  now?: Date,
): [string, string] | undefined {
  if (!given) return [from, to];
  const hasTimes = listed(given).some((text) => isDate(text) && text.length > 10);
  const days = hasTimes ? undefined : daysOf(given, todayIn(timezone, now));
  if (!days) return undefined;
  const common: [string, string] = [
    days[0] > from ? days[0] : from,
    endOf(days[1]) < endOf(to) ? days[1] : to,
  ];
  return common[0] <= endOf(common[1]) ? common : undefined;
}

const listed = (range: string | string[]) => (Array.isArray(range) ? range : [range]);

/** A number with many digits is a text; see `parseDigits`. */
const isNumeric = (value: unknown) => typeof value === 'number' || /^-?\d{16,}$/.test(String(value));

/** Changes the query. A filter that says nothing changes nothing. */
export function addFilter(query: Query, member: string, { operator, value }: FilterValue) {
  const values = (Array.isArray(value) ? value : [value]).filter(
    (each) => each !== null && each !== undefined,
  );
  const time = query.timeDimensions?.find(({ dimension }) => dimension === member);
  const isRange = operator === 'between' || operator === 'inDateRange';
  if (time && (isRange || operator === 'equals')) {
    if (values.length) time.dateRange = values.length === 1 ? String(values[0]) : values.map(String);
    return;
  }
  query.filters ??= [];
  if (isRange && isNumeric(values[0])) {
    query.filters.push({ member, operator: 'gte', values: [String(values[0])] });
    if (values.length > 1) query.filters.push({ member, operator: 'lte', values: [String(values[1])] });
    return;
  }
  if (isRange) {
    const dateRange = values.length === 1 ? String(values[0]) : values.map(String);
    if (values.length)
      query.timeDimensions = [...(query.timeDimensions ?? []), { dimension: member, dateRange }];
    return;
  }
  const known = OPERATORS[operator] ?? (KNOWN.has(operator) ? operator : undefined);
  if (!known) return;
  const texts = operator.endsWith('_empty') ? [''] : values.map(String);
  if (WITHOUT_VALUES.includes(known)) query.filters.push({ member, operator: known });
  else if (texts.length) query.filters.push({ member, operator: known, values: texts });
}

const comparisonOf = (operator: string) =>
  Object.hasOwn(OPERATORS, operator)
    ? OPERATORS[operator]
    : KNOWN.has(operator) || operator === 'between'
      ? operator
      : undefined;

/** A filter that has nothing to compare with does nothing. */
export function lacksValue({ operator, value }: FilterValue): boolean {
  const needsNone = operator.endsWith('_empty') || WITHOUT_VALUES.includes(comparisonOf(operator)!);
  return !needsNone && [value].flat().every((each) => (each ?? null) === null);
}

/**
 * Why a filter would narrow nothing down, or not as it says; undefined if it does what it says. The words follow the
 * name of the filter. Where no person looks at the rows before they are sent, such a filter is an error.
 */
export function problemOf(filter: FilterValue): string | undefined {
  const { operator, value } = filter;
  if (!comparisonOf(operator)) return `cannot be compared by ${operator}`;
  // How a preset is cleared.
  if (operator === 'equals' && (value ?? null) === null) return undefined;
  if (lacksValue(filter)) return `needs a value for ${operator}`;
  return Array.isArray(value) && value.includes(null) ? 'has null among its values' : undefined;
}

/** The days that a query is about. If today is among them, the period ends now: today is the last day, and `until` the time. */
export interface Period {
  days: [string, string];
  until?: string;
}

export function periodOf(query: Query, now: Date, timeDimension?: string): Period | undefined {
  const { timeDimensions = [], timezone = 'UTC' } = query;
  const range = timeDimensions.find(
    ({ dimension, dateRange }) => dateRange && (timeDimension ?? dimension) === dimension,
  )?.dateRange;
  const today = todayIn(timezone, now);
  const days = range && daysOf(range, today);
  if (!days) return undefined;
  const isOpen = days[0] <= today && today <= days[1];
  return isOpen ? { days: [days[0], today], until: clockIn(timezone, now) } : { days };
}

/**
 * The same query about another time, or undefined if the query has no range of time that can be moved. A range that is not over
 * is compared with as much of the earlier one as has passed of it.
 */
export function shifted(
  query: Query,
  timeDimension: string,
  offset: Offset,
  now = new Date(),
): Query | undefined {
  const { amount } = offset;
  const unit = unitOf(offset.unit);
  const moved = structuredClone(query);
  const time = moved.timeDimensions?.find(({ dimension }) => dimension === timeDimension);
  const period = periodOf(query, now, timeDimension);
  if (!time || !period || !unit) return undefined;
  const { days, until } = period;
  const first = add(days[0], -amount, unit);
  if (until === undefined) {
    // Move the first day after the range instead of its last day, so that whole months stay whole.
    time.dateRange = [first, addDays(add(addDays(days[1], 1), -amount, unit), -1)];
    return moved;
  }
  const last = add(days[1], -amount, unit);
  // If the earlier month has no such day, all of that month counts.
  const isOver = add(last, amount, unit) !== days[1];
  time.dateRange = [first, isOver ? last : `${last}T${until}`];
  return moved;
}

/** The measures of a query over all of its rows; undefined if it has none, or asks for several periods. */
export function totalQuery({
  measures,
  timeDimensions = [],
  filters,
  segments,
  timezone,
  calculated,
}: Query) {
  // Others compare rows with each other, or name dimensions.
  const aggregates = calculated?.filter(({ kind }) => kind === 'aggregate') ?? [];
  const isEmpty = !measures?.length && !aggregates.length;
  if (isEmpty || timeDimensions.some((time) => 'compareDateRange' in time)) return undefined;
  const ranges = timeDimensions.flatMap(({ dimension, dateRange }) =>
    dateRange ? [{ dimension, dateRange }] : [],
  );
  return {
    ...(measures?.length ? { measures } : {}),
    ...(aggregates.length ? { calculated: aggregates } : {}),
    ...(ranges.length ? { timeDimensions: ranges } : {}),
    ...(filters?.length ? { filters } : {}),
    ...(segments?.length ? { segments } : {}),
    ...(timezone ? { timezone } : {}),
  };
}

interface Filter {
  member?: string;
  dimension?: string;
  and?: unknown[];
  or?: unknown[];
}

/** The members that filters name, also those inside of `and` and `or`. */
export const filteredMembers = (filters: unknown[] = []): string[] =>
  (filters as Filter[]).flatMap(({ member, dimension, and, or }) => {
    const named = member ?? dimension;
    return [...(named ? [named] : []), ...filteredMembers(and), ...filteredMembers(or)];
  });

/** The key under which rows hold a bucket of time. */
export const timeKey = ({ timeDimensions = [] }: Query, member?: string): string | undefined => {
  const time = timeDimensions.find(
    ({ dimension, granularity }) => granularity && (!member || dimension === member),
  );
  return time && `${time.dimension}.${time.granularity}`;
};

/** Rows with a bucket of time also have its begin under the plain name, which is not a column of its own. */
export const isPlainTime = ({ dimensions = [], timeDimensions = [] }: Query, member: string): boolean =>
  !dimensions.includes(member) &&
  timeDimensions.some(({ dimension, granularity }) => dimension === member && granularity);

/** Numbers hold 15 digits, whatever they are. */
const fitsNumber = (text: string) => text.replace(/^[-+0.]+|e.*$/gi, '').replace('.', '').length <= 15;

/** Queries that are asked together have their time under a common name too, which nobody asked for. */
const COMMON_TIME = /^time\.[a-z]+$/;

/** Texts of numbers become numbers, except those that would lose digits: ids would become other ids. */
export function typed({ annotation, data }: Result): Row[] {
  const known = { ...annotation.dimensions, ...annotation.measures, ...annotation.timeDimensions };
  const common = Object.keys(data[0] ?? {}).filter((key) => COMMON_TIME.test(key) && !(key in known));
  const numeric = Object.entries({ ...annotation.dimensions, ...annotation.measures })
    .filter(([, { type }]) => type === 'number')
    .map(([key]) => key);
  return data.map((row) => {
    const copy = { ...row };
    for (const key of common) delete copy[key];
    for (const key of numeric) {
      const value = copy[key];
      if (typeof value === 'string' && fitsNumber(value)) copy[key] = Number(value);
    }
    return copy;
  });
}

const dayOf = (value: unknown) => String(value).slice(0, 10);

const ADDED_MAX = 50_000;

/** Adds rows with zeroes for buckets of time in which nothing happened. If they are too many, no row is added. */
export function fillMissing(rows: Row[], query: Query, { fillMissingRows }: Snapshot): Row[] {
  const key = fillMissingRows && timeKey(query, fillMissingRows.member);
  const unit = unitOf(key?.split('.').at(-1) ?? '');
  if (!key || !rows.length || !unit) return rows;
  const excluded = fillMissingRows.excludedDimensions ?? [];
  const dimensions = (query.dimensions ?? []).filter((member) => !excluded.includes(member));
  const groups = new Map<string, Map<string, Row[]>>();
  for (const row of rows) {
    const group = JSON.stringify(dimensions.map((member) => row[member]));
    const buckets = groups.get(group) ?? new Map<string, Row[]>();
    groups.set(group, buckets);
    const day = dayOf(row[key]);
    buckets.set(day, [...(buckets.get(day) ?? []), row]);
  }
  const all = rows.map((row) => dayOf(row[key])).sort();
  if (!all.every(isDate)) return rows;
  const range = query.timeDimensions?.find(
    ({ dimension }) => dimension === fillMissingRows.member,
  )?.dateRange;
  const days = range && daysOf(range, todayIn(query.timezone ?? 'UTC'));
  const today = todayIn(query.timezone ?? 'UTC');
  const first = days ? startOf(days[0], unit) : all[0]!;
  const last = days ? (days[1] < today ? days[1] : today) : all.at(-1)!;
  const filled: Row[] = [];
  let added = 0;
  for (let day = first; day <= last || day <= all.at(-1)!; day = add(day, 1, unit)) {
    for (const [group, buckets] of groups) {
      const found = buckets.get(day);
      if (found) {
        filled.push(...found);
        continue;
      }
      if (++added > ADDED_MAX) return rows;
      const values = JSON.parse(group);
      const time = `${day}T00:00:00.000`;
      filled.push({
        ...Object.fromEntries(dimensions.map((member, i) => [member, values[i]])),
        [key]: time,
        ...(isPlainTime(query, fillMissingRows.member) ? { [fillMissingRows.member]: time } : {}),
        ...Object.fromEntries((query.measures ?? []).map((measure) => [measure, 0])),
      });
    }
  }
  return filled;
}

/** Puts values of an earlier period beside the rows: `<measure>.previous`, `.change` and `.percent`. */
export function compare(
  rows: Row[],
  earlier: Row[],
  query: Query,
  {
    measure,
    offset,
    outputs,
    timeDimension,
  }: { measure: string; offset: Offset; outputs?: string[] | null; timeDimension: string },
): Row[] {
  const key = timeKey(query, timeDimension);
  const unit = unitOf(offset.unit);
  const timeOf = (row: Row) => (key ? String(row[key]) : '');
  // The hours of a day stay apart.
  const later = (time: string) =>
    unit && isDate(time) ? `${add(time, offset.amount, unit)}${time.slice(10)}` : time;
  const idOf = (row: Row, time: string) =>
    JSON.stringify([time, (query.dimensions ?? []).map((member) => row[member])]);
  // By a unit that is not known, nothing can be compared.
  const before = new Map(
    unit ? earlier.map((row) => [idOf(row, later(timeOf(row))), row[measure]] as const) : [],
  );
  const wanted = (name: string) => !outputs?.length || outputs.includes(name);
  return rows.map((row) => {
    const previous = before.get(idOf(row, timeOf(row)));
    const now = Number(row[measure]);
    const then = previous === undefined || previous === null ? null : Number(previous);
    const added: Row = {};
    if (wanted('previous')) added[`${measure}.previous`] = then;
    if (wanted('change')) added[`${measure}.change`] = then === null ? null : now - then;
    if (wanted('percent')) added[`${measure}.percent`] = then ? (now - then) / Math.abs(then) : null;
    return { ...row, ...added };
  });
}
