import { operations, type QueryOf } from '@oriel/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { dayOf, type Usage } from './counters.ts';
import * as store from './store.ts';

type UsageQuery = QueryOf<typeof operations.exportUsage>;

const LIST = 'usage by day and embed tenant';
const DAY_MS = 86_400_000;
const DAYS_DEFAULT = 30;
const DAYS_MAX = 400;
const EXPORTED_AT_ONCE = 1000;

const COLUMNS = [
  'day',
  'embedTenantName',
  'sessions',
  'viewers',
  'queries',
  'cachedQueries',
  'rows',
] as const;

export const usageRoutes = ({ cursors }: Pick<Platform, 'cursors'>, usage: Usage) => [
  handle(operations.getUsage, async ({ db }, { query }) => {
    const { first, after, sum, ...asked } = query;
    const filter = { ...toFilter(asked), isSum: sum === 'day' };
    const list = `${LIST} ${JSON.stringify(filter)}`;
    const position = after ? (cursors.decode(list, after) as [string, string]) : null;
    const size = pageSize(first);
    await usage.flush();
    const rows = await store.listUsage(db, filter, { after: position, limit: size + 1 });
    return toPage(rows, { size, after, cursorOf: (row) => cursors.encode(list, positionOf(row)) });
  }),

  handle(operations.exportUsage, async ({ db }, { query }) => {
    const filter = toFilter(query);
    await usage.flush();
    return { columns: [...COLUMNS], rows: allRows(db, filter) };
  }),
];

const positionOf = ({ day, embedTenantName }: store.UsageRow): [string, string] => [
  day,
  embedTenantName ?? '',
];

async function* allRows(db: Queryable, filter: store.UsageFilter) {
  let after: [string, string] | null = null;
  for (;;) {
    const rows: store.UsageRow[] = await store.listUsage(db, filter, { after, limit: EXPORTED_AT_ONCE });
    for (const row of rows) yield COLUMNS.map((column) => row[column]);
    if (rows.length < EXPORTED_AT_ONCE) return;
    after = positionOf(rows.at(-1)!);
  }
}

function toFilter(asked: UsageQuery): store.UsageFilter {
  const to = asked.to == null ? dayOf(Date.now()) : requireDay('to', asked.to);
  const from =
    asked.from == null ? dayOf(Date.parse(to) - DAYS_DEFAULT * DAY_MS) : requireDay('from', asked.from);
  if (from > to) throw invalid('from', 'must not be after `to`');
  if (Date.parse(to) - Date.parse(from) > DAYS_MAX * DAY_MS)
    throw invalid('from', `must be at most ${DAYS_MAX} days before \`to\``);
  return { from, to, embedTenantName: asked.embedTenantName ?? null, isSum: false };
}

/** The pattern lets pass days that no month has. */
function requireDay(field: string, day: string): string {
  const ms = Date.parse(day);
  if (Number.isNaN(ms) || dayOf(ms) !== day) throw invalid(field, 'must be a day of the calendar');
  return day;
}
