/** The queries for the rows behind a figure, a mark or a cell. */
import { add, addDays, unitOf } from './dates.ts';
import { membersOf } from './query.ts';
import type { Query, Row } from './types.ts';

const ROWS_MAX = 200;

export interface Drilled {
  widgetId: string;
  title: string;
  member: string;
  value: unknown;
  /** The query of the widget, narrowed down to the row. */
  query: Query;
}

/** The range of a bucket of time; undefined for granularities of the model, whose length is not known here. */
function rangeOf(time: string, granularity: string): [string, string] | undefined {
  if (granularity === 'hour') return [`${time.slice(0, 13)}:00`, `${time.slice(0, 13)}:59`];
  if (granularity === 'minute') return [time.slice(0, 16), time.slice(0, 16)];
  const unit = unitOf(granularity);
  const day = time.slice(0, 10);
  return unit && [day, addDays(add(day, 1, unit), -1)];
}

export function drillFrom({
  widgetId,
  title,
  member,
  row,
  query,
  value,
}: {
  widgetId: string;
  title: string;
  member: string;
  row: Row;
  query: Query;
  value: unknown;
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
  return { widgetId, title, member, value, query: { ...query, filters, timeDimensions } };
}

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
    order: { [member]: 'desc' },
    limit: ROWS_MAX,
  };
}
