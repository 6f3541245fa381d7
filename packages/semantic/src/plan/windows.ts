/** Rolling windows: for each period of the query, the rows from some time before it to some time after it. */
import type { Interval, RollingWindow } from '../model.ts';
import { addInterval, nextPeriod, type Periods, startOfPeriod } from '../times/calendar.ts';
import { type Span, writeLocal } from '../times/moments.ts';
import type { Zone } from '../times/zones.ts';
import { type Budget, spend } from './budget.ts';
import { instant } from './comparisons.ts';
import { queryError } from './errors.ts';
import {
  allOf,
  type Condition,
  columnOf,
  inBrackets,
  type JoinClause,
  type Sql,
  sql,
  type Value,
  value,
} from './sql.ts';

/** The dates that the query asks for. */
export interface WindowRange {
  readonly span: Span;
  /** Undefined if the whole range is one period. */
  readonly periods: Periods | undefined;
  readonly zone: Zone;
}

const PERIODS_MAX = 5000;

/**
 * Joins each row to the periods whose window it is in. The column `period` says which. ClickHouse joins only by
 * equalities, so the rows are chosen by a condition of the whole select.
 */
export function windowJoin(
  alias: string,
  timeSql: Sql,
  window: RollingWindow,
  range: WindowRange,
  budget: Budget,
): { readonly join: JoinClause; readonly where: Condition } {
  const rows = periodsIn(range, budget).map(([start, end]): Value[] => {
    const anchor = window.offset === 'start' ? start : end;
    const edge = (interval: Interval | 'unbounded' | undefined, sign: number) => {
      const local =
        interval === undefined || interval === 'unbounded' ? anchor : addInterval(anchor, interval, sign);
      return instant({ ms: range.zone.instantOf(local), micros: 0 });
    };
    return [value('local', writeLocal(start)), edge(window.trailing, -1), edge(window.leading, 1)];
  });
  const time = inBrackets(timeSql);
  const where = allOf([
    window.trailing === 'unbounded' || sql`${time} >= ${columnOf(alias, 'from')}`,
    window.leading === 'unbounded' || sql`${time} < ${columnOf(alias, 'to')}`,
  ]);
  const source = { alias, of: { rows, columns: ['period', 'from', 'to'] } };
  return { join: { type: 'cross', source }, where };
}

/** The local beginning and end of each period. */
function periodsIn({ span, periods, zone }: WindowRange, budget: Budget): [number, number][] {
  const end = zone.localOf(span.to.ms);
  if (!periods) return [[zone.localOf(span.from.ms), end]];
  const found: [number, number][] = [];
  for (let start = startOfPeriod(zone.localOf(span.from.ms), periods); start < end; ) {
    const next = nextPeriod(start, periods);
    found.push([start, next]);
    start = next;
    spend(budget, 1);
    if (found.length > PERIODS_MAX) {
      throw queryError(
        'invalid_query',
        `A rolling window has at most ${PERIODS_MAX} periods in its date range.`,
      );
    }
  }
  return found;
}
