/** Rolling windows: for each period of the query, the rows from some time before it to some time after it. */
import type { Interval, RollingWindow } from '../model.ts';
import { addInterval, nextPeriod, type Periods, startOfPeriod } from '../times/calendar.ts';
import { isFiniteInstant, type Span, writeLocal } from '../times/moments.ts';
import type { Zone } from '../times/zones.ts';
import { type Budget, spend } from './budget.ts';
import { instant } from './comparisons.ts';
import { queryError } from './errors.ts';
import {
  allOf,
  type Condition,
  call,
  columnOf,
  inBrackets,
  type JoinClause,
  type Select,
  type Source,
  type Sql,
  sql,
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
 * Periods that extend a run are only counted and compared, so several of them take one piece; a run takes one itself.
 */
const PERIODS_PER_PIECE = 4;

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
  const source = sourceOf(alias, runsOf(window, range, budget), stepOf(range));
  const time = inBrackets(timeSql);
  const where = allOf([
    window.trailing === 'unbounded' || sql`${time} >= ${columnOf(alias, 'from')}`,
    window.leading === 'unbounded' || sql`${time} < ${columnOf(alias, 'to')}`,
  ]);
  return { join: { type: 'cross', source }, where };
}

/** A period, and how many follow at the same distance, each as long and with the same window. */
interface Run {
  /** In local time. */
  readonly start: number;
  readonly from: number;
  readonly to: number;
  count: number;
}

/** The distance of periods, in milliseconds. Months differ in length, so they have none. */
const stepOf = ({ periods }: WindowRange) =>
  periods && 'seconds' in periods ? periods.seconds * 1000 : Number.NaN;

/**
 * Merges the periods into runs. Years of days become a few: a new run begins where clocks are changed, or where a
 * window counts months.
 */
function runsOf(window: RollingWindow, range: WindowRange, budget: Budget): Run[] {
  const step = stepOf(range);
  const runs: Run[] = [];
  for (const [start, end] of periodsIn(range, budget)) {
    const anchor = window.offset === 'start' ? start : end;
    const edge = (interval: Interval | 'unbounded' | undefined, sign: number) =>
      range.zone.instantOf(
        interval === undefined || interval === 'unbounded' ? anchor : addInterval(anchor, interval, sign),
      );
    const from = edge(window.trailing, -1);
    const to = edge(window.leading, 1);
    const run = runs.at(-1);
    // Databases cannot add to what is infinite.
    const canBeAdded = [run?.from ?? 0, from, run?.to ?? 0, to].every(isFiniteInstant);
    const passed = run && canBeAdded ? run.count * step : Number.NaN;
    if (run && run.from + passed === from && run.to + passed === to) run.count++;
    else {
      spend(budget, 1);
      runs.push({ start, from, to, count: 1 });
    }
  }
  return runs;
}

function sourceOf(alias: string, runs: readonly Run[], step: number): Source {
  const columns = ['period', 'from', 'to'];
  const rows = runs.map(({ start, from, to }) => [
    value('local', writeLocal(start)),
    instant({ ms: from, micros: 0 }),
    instant({ ms: to, micros: 0 }),
  ]);
  if (runs.every(({ count }) => count === 1)) return { alias, of: { rows, columns } };
  const counted = rows.map((row, i) => [...row, value('integer', String(runs[i]!.count))]);
  const numbered: Select = {
    columns: [
      ...columns.map((column) => ({ name: column, sql: columnOf('runs', column) })),
      { name: 'number', sql: call('numbersBelow', columnOf('runs', 'count')) },
    ],
    from: { alias: 'runs', of: { rows: counted, columns: [...columns, 'count'] } },
  };
  const passed = sql`${columnOf('runs', 'number')} * ${value('integer', String(step / 1000))}`;
  const moved = columns.map((column) => ({
    name: column,
    sql: call('addSeconds', columnOf('runs', column), passed),
  }));
  return {
    alias,
    of: { select: { columns: moved, from: { alias: 'runs', of: { select: numbered } } } },
  };
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
    spend(budget, 1 / PERIODS_PER_PIECE);
    if (found.length > PERIODS_MAX) {
      throw queryError(
        'invalid_query',
        `A rolling window has at most ${PERIODS_MAX} periods in its date range.`,
      );
    }
  }
  return found;
}
