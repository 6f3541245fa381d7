/** The queries for the rows behind a figure, a mark or a cell. */
import { add, unitOf } from './dates.ts';
import { type Formats, shownOf } from './format.ts';
import { type Narrowing, narrow } from './query.ts';
import type { Annotation, ColumnFormat, Query, Row } from './types.ts';

/** Details come in pages of so many rows. */
export const PAGE_ROWS = 200;
/** The largest number of rows of an answer. */
export const FILE_ROWS_MAX = 50_000;

export interface DrillTarget {
  widgetId: string;
  title: string;
  member: string;
  value: unknown;
  /** How the value is written, if not as the model says. */
  format?: ColumnFormat | null | undefined;
  /** What tells the row apart from the others: times and dimensions, with the keys that they have in rows. */
  values: [key: string, value: unknown][];
  /** What values are called, if not as the model says: the country of a code. */
  names?: Record<string, string>;
  annotation: Annotation;
  /** The conditions that only this row meets. */
  narrowings: Narrowing[];
  /** The query of the widget, narrowed down to the row. */
  query: Query;
}

const MS: Record<string, number> = { hour: 3_600_000, minute: 60_000, second: 1000 };

/** A time as long after another one as the interval says, `2 weeks` or `1 hour 30 minutes`; undefined for other words. */
function after(time: string, interval: string): string | undefined {
  let moved = time;
  for (const part of interval.split(/ (?=\d)/)) {
    const [, count, name] = /^(\d+) ([a-z]+?)s?$/.exec(part) ?? [];
    const unit = name && unitOf(name);
    const ms = name && MS[name];
    if (unit) moved = `${add(moved, Number(count), unit)}${moved.slice(10)}`;
    else if (ms) moved = seconds(Date.parse(`${moved}Z`) + Number(count) * ms);
    else return undefined;
  }
  return moved;
}

const seconds = (ms: number) => new Date(ms).toISOString().slice(0, 19);

/** The range of a bucket of time, which includes its last second or day. */
function rangeOf(time: string, interval: string): [string, string] | undefined {
  const from = time.slice(0, 19);
  const next = after(from, interval);
  if (next === undefined) return undefined;
  const to = seconds(Date.parse(`${next}Z`) - 1000);
  const isDays = from.endsWith('T00:00:00') && to.endsWith('T23:59:59');
  return isDays ? [from.slice(0, 10), to.slice(0, 10)] : [from, to];
}

const drillMembersOf = ({ measures }: Annotation, member: string): string[] =>
  measures[member]?.drillMembersGrouped?.dimensions ?? [];

/** Without drill members, details would say again what is there already. */
export const canDrill = (annotation: Annotation, member: string): boolean =>
  drillMembersOf(annotation, member).length > 0;

export function drillFrom({
  row,
  query,
  ...rest
}: Omit<DrillTarget, 'values' | 'narrowings'> & {
  row: Row;
}): DrillTarget {
  const narrowings = narrowingsOf(row, query, rest.annotation);
  const narrowed = structuredClone(query);
  for (const narrowing of narrowings) narrow(narrowed, narrowing);
  // The rows behind it are not grouped by time.
  const timeDimensions = (narrowed.timeDimensions ?? []).map(({ dimension, dateRange }) => ({
    dimension,
    ...(dateRange ? { dateRange } : {}),
  }));
  const keys = [
    ...(query.timeDimensions ?? []).map(({ dimension, granularity }) => `${dimension}.${granularity}`),
    ...(query.dimensions ?? []),
  ];
  const values = keys.flatMap((key): DrillTarget['values'] => (key in row ? [[key, row[key]]] : []));
  return {
    ...rest,
    values,
    narrowings,
    query: { ...narrowed, filters: narrowed.filters ?? [], timeDimensions },
  };
}

/** What tells a row apart from the others of its query. */
function narrowingsOf(row: Row, query: Query, annotation: Annotation): Narrowing[] {
  const times = (query.timeDimensions ?? []).flatMap(({ dimension, granularity }): Narrowing[] => {
    const key = `${dimension}.${granularity}`;
    const bucket = granularity && row[key];
    if (!bucket) return [];
    const text = typeof bucket === 'number' ? new Date(bucket).toISOString() : String(bucket);
    const range = rangeOf(text, annotation.timeDimensions[key]?.granularity?.interval ?? `1 ${granularity}`);
    return range ? [{ member: dimension, range }] : [];
  });
  const dimensions = (query.dimensions ?? []).flatMap((member): Narrowing[] => {
    const found = row[member];
    return found === undefined ? [] : [{ member, value: found === null ? null : String(found) }];
  });
  return [...times, ...dimensions];
}

/** The row in words. */
export const namesOf = ({ values, names, annotation }: DrillTarget, formats: Formats): string[] =>
  values.map(([key, each]) => {
    const shown = shownOf(annotation, key);
    const text = names?.[key] ?? formats.value(each, shown);
    return shown?.type === 'number' || each === null ? `${shown?.shortTitle ?? key} ${text}` : text;
  });

/** Rows with equal values have an order too, so that no page repeats a row of another one. */
export const orderBy = (dimensions: string[], { member, desc }: { member: string; desc: boolean }) => [
  [member, desc ? 'desc' : 'asc'],
  ...dimensions.filter((dimension) => dimension !== member).map((dimension) => [dimension, 'asc']),
];

/** The query for the details: the drill members of the measure, and what its query asks for. */
export function detailsOf(annotation: Annotation, member: string, query: Query): Query | undefined {
  const asked = [...new Set([...drillMembersOf(annotation, member), ...(query.dimensions ?? [])])];
  if (!asked.length) return undefined;
  const { filters, segments, timezone, timeDimensions } = query;
  return {
    dimensions: asked,
    measures: [member],
    timeDimensions: (timeDimensions ?? []).filter(({ dateRange }) => dateRange),
    ...(filters?.length ? { filters } : {}),
    ...(segments?.length ? { segments } : {}),
    ...(timezone ? { timezone } : {}),
    order: orderBy(asked, { member, desc: true }),
  };
}
