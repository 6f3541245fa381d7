/** `refresh_key`: how long results are cached. */
import { expression } from '../expressions.ts';
import type { Interval, RefreshKey, Unit } from '../model.ts';
import type { Problems } from '../problems.ts';
import { atKey, object, optional } from '../read.ts';
import { interval } from './intervals.ts';

const SECONDS: Partial<Record<Unit, number>> = {
  second: 1,
  minute: 60,
  hour: 3600,
  day: 86_400,
  week: 7 * 86_400,
};

export const refreshKey = object({
  what: '`refresh_key`',
  fields: { every: optional(interval({ canBeNegative: false })), sql: optional(expression) },
  refused: {
    timezone: '`every` is an interval, such as `1 hour`, and does not depend on a time zone.',
    incremental: 'Pre-aggregations are not supported.',
    update_window: 'Pre-aggregations are not supported.',
  },
});
export type RawRefreshKey = ReturnType<typeof refreshKey>;

export function resolveRefreshKey(
  raw: RawRefreshKey | undefined,
  problems: Problems,
): RefreshKey | undefined {
  if (!raw) return undefined;
  if (!raw.every && !raw.sql) {
    problems.add(raw.where.spot, 'missing_key', '`refresh_key` needs `every`, `sql` or both.');
  }
  const reference = raw.sql?.parts.find((part) => typeof part !== 'string');
  if (reference && typeof reference !== 'string') {
    const message = 'The `sql` of a `refresh_key` is a query, and takes no references.';
    problems.add(
      reference.spot,
      'not_allowed_here',
      message,
      'Write the names of tables and columns themselves.',
    );
  }
  return {
    everySeconds: raw.every && secondsOf(raw.every, raw, problems),
    sql: raw.sql?.parts.filter((part) => typeof part === 'string').join(''),
  };
}

function secondsOf(every: Interval, raw: RawRefreshKey, problems: Problems): number {
  if (every.some(({ unit }) => SECONDS[unit] === undefined)) {
    problems.add(atKey(raw, 'every'), 'bad_value', 'Write `every` in weeks, days or shorter units.');
  }
  return every.reduce((sum, { count, unit }) => sum + count * (SECONDS[unit] ?? 0), 0);
}
