/** The queries for the rows behind a figure, a mark or a cell. */
import { add, addDays, unitOf } from './dates.ts';
import { membersOf } from './query.ts';
import type { Annotation, ColumnFormat, Query, Row } from './types.ts';

/** Details come in pages of so many rows. */
export const PAGE_ROWS = 200;
/** An answer has no more. */
export const FILE_ROWS_MAX = 50_000;

export interface Drilled {
  widgetId: string;
  title: string;
  member: string;
  value: unknown;
  /** How the value is written, if not as the model says. */
  format?: ColumnFormat | null | undefined;
  /** What tells the row apart from the others: times and dimensions, with the keys that they have in rows. */
  values: [key: string, value: unknown][];
  annotation: Annotation;
  /** The query of the widget, narrowed down to the row. */
  query: Query;
}

/** The range of a bucket of time; undefined for granularities of the model, whose length is not known here. */
function rangeOf(time: string, granularity: string): [string, string] | undefined {
  if (granularity === 'hour') return [`${time.slice(0, 13)}:00`, `${time.slice(0, 13)}:59`];
  if (granularity === 'minute') return [time.slice(0, 16), time.slice(0, 16)];
  if (granularity === 'second') return [time.slice(0, 19), time.slice(0, 19)];
  const unit = unitOf(granularity);
  const day = time.slice(0, 10);
  return unit && [day, addDays(add(day, 1, unit), -1)];
}

export function drillFrom({
  row,
  query,
  ...rest
}: Omit<Drilled, 'values'> & {
  row: Row;
}): Drilled {
  const filters = [...(query.filters ?? [])];
  for (const dimension of query.dimensions ?? []) {
    const found = row[dimension];
    if (found === undefined) continue;
    filters.push(
      found === null
        ? { member: dimension, operator: 'notSet' }
        : { member: dimension, operator: 'equals', values: [String(found)] },
    );
  }
  const timeDimensions = (query.timeDimensions ?? []).map(({ dimension, granularity, dateRange }) => {
    const bucket = granularity && row[`${dimension}.${granularity}`];
    const text = typeof bucket === 'number' ? new Date(bucket).toISOString() : String(bucket);
    const narrowed = (bucket ? rangeOf(text, granularity) : undefined) ?? dateRange;
    return { dimension, ...(narrowed ? { dateRange: narrowed } : {}) };
  });
  const keys = [
    ...(query.timeDimensions ?? []).map(({ dimension, granularity }) => `${dimension}.${granularity}`),
    ...(query.dimensions ?? []),
  ];
  const values = keys.flatMap((key): Drilled['values'] => (key in row ? [[key, row[key]]] : []));
  return { ...rest, values, query: { ...query, filters, timeDimensions } };
}

/** Rows with equal values have an order too, so that no page repeats a row of another one. */
export const orderBy = (dimensions: string[], { member, desc }: { member: string; desc: boolean }) => [
  [member, desc ? 'desc' : 'asc'],
  ...dimensions.filter((dimension) => dimension !== member).map((dimension) => [dimension, 'asc']),
];

/** By the drill members of the measure; of a view, by those of its own members that mean the same. */
export function detailsOf(
  cubes: { name: string; dimensions: { name: string; aliasMember?: string }[] }[],
  member: string,
  drillMembers: string[],
  query: Query,
): Query | undefined {
  const owner = member.split('.')[0];
  const own = cubes.find(({ name }) => name === owner)?.dimensions ?? [];
  const dimensions = drillMembers.map(
    (drilled) => own.find(({ aliasMember }) => aliasMember === drilled)?.name ?? drilled,
  );
  const used = membersOf(query);
  const asked = [...new Set([...dimensions, ...(query.dimensions ?? [])])];
  if (!asked.length || !used.length) return undefined;
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
