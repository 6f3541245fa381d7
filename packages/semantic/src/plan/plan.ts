/** From a model, a query and a viewer to SQL with parameters. */
import type { DimensionType, Model, Unit } from '../model.ts';
import { type Annotation, annotationOf } from '../shown/annotations.ts';
import { type Periods, periodsOfUnit } from '../times/calendar.ts';
import { type Clock, createNow, type Now } from '../times/ranges.ts';
import { findZone } from '../times/zones.ts';
import { type Budget, createBudget, spend } from './budget.ts';
import { mayOverflow, within } from './comparisons.ts';
import { clickhouse } from './dialects/clickhouse.ts';
import { duckdb } from './dialects/duckdb.ts';
import { postgres } from './dialects/postgres.ts';
import { queryError } from './errors.ts';
import type { Grouping, Key, PlanContext, RowFilter } from './facts.ts';
import { filterCondition, membersOf, piecesOf } from './filters.ts';
import { type Found, findMembers, type Output } from './find.ts';
import { createGroups } from './groups.ts';
import { homeOf } from './homes.ts';
import { measureCondition, typeOfMeasure } from './measures.ts';
import type { DimensionMember, MeasureMember, Member } from './members.ts';
import { type NormalQuery, normalQuery } from './normal-query.ts';
import { requireConnected } from './paths.ts';
import type { Order, Query } from './query.ts';
import { readQuery } from './read-query.ts';
import { type Dialect, renderStatement, type Statement } from './render.ts';
import { requirePeriods } from './rows.ts';
import { type Column, call, type Select, type Sql, shownInUtc, sql } from './sql.ts';
import { subQueryOf } from './sub-queries.ts';
import { planUngrouped } from './ungrouped.ts';
import type { Viewer } from './viewer.ts';

export const DIALECTS = { duckdb, postgres, clickhouse } satisfies Record<string, Dialect>;
export type DialectName = keyof typeof DIALECTS;

export interface PlanOptions {
  /** Of the data source. All cubes that joins connect have the same one. */
  readonly dialect: DialectName | ((dataSource: string) => DialectName);
  /** Decides what `today` is. */
  readonly now: Date;
  /** Rows of an answer, whatever the query asks for. */
  readonly rowsMax?: number;
  /** Shared by the queries of a request. A query has one of its own if it is left out. */
  readonly budget?: Budget;
}

export const ROWS_MAX = 50_000;

export interface Plan {
  readonly statement: Statement;
  /** Counts the rows that there would be without limit and offset, if the query asks for it. */
  readonly total: Statement | undefined;
  readonly columns: readonly PlannedColumn[];
  /** Columns that rows have under another name too: times under their plain ones, in the smallest granularity. */
  readonly plainTimes: readonly { readonly key: string; readonly sameAs: string }[];
  readonly dataSource: string;
  /** The cubes that the statement reads, also those that are only passed through. */
  readonly cubes: readonly string[];
  /** The view that is queried. */
  readonly view: string | undefined;
  /** The members that the query names, by the name of their cube or view. Those of a view are of its cubes too. */
  readonly named: ReadonlyMap<string, ReadonlySet<string>>;
  /** The query with everything that was left out, and with date ranges as dates. */
  readonly query: NormalQuery;
  readonly annotation: Annotation;
}

export interface PlannedColumn {
  /** The name of the column in the statement. */
  readonly column: string;
  /** As the query names it, with its granularity: `orders.created_at.day`. */
  readonly key: string;
  /** As the query names it: `orders.created_at`. */
  readonly member: string;
  readonly kind: 'dimension' | 'timeDimension' | 'measure';
  readonly type: DimensionType;
  readonly granularity: string | undefined;
}

export interface Plans extends Pick<Query, 'isRenewed' | 'isCompact'> {
  readonly type: 'regularQuery' | 'compareDateRangeQuery';
  /** One, or one for each of the date ranges that are compared. */
  readonly plans: readonly Plan[];
  /** Until then, the plans of this query are the same. Infinite if they do not depend on the time. */
  readonly sameUntilMs: number;
}

/** Throws a `QueryError` if the query is wrong. */
export function planQuery(model: Model, json: unknown, viewer: Viewer, options: PlanOptions): Plans {
  const query = readQuery(json);
  const [comparing, another] = query.timeDimensions.filter(({ compareDateRange }) => compareDateRange);
  if (another) {
    throw queryError('invalid_query', 'Only one time dimension can have `compareDateRange`.', another.path);
  }
  const { isRenewed, isCompact } = query;
  const now = createNow(options.now.getTime());
  const planning = { ...options, now, budget: options.budget ?? createBudget() };
  if (!comparing) {
    const plans = [planOne(model, query, viewer, planning)];
    return { type: 'regularQuery', plans, sameUntilMs: now.sameUntilMs, isRenewed, isCompact };
  }
  const plans = comparing.compareDateRange!.map((dateRange) => {
    const timeDimensions = query.timeDimensions.map((item) =>
      item === comparing ? { ...item, dateRange, compareDateRange: undefined } : item,
    );
    return planOne(model, { ...query, timeDimensions }, viewer, planning);
  });
  return { type: 'compareDateRangeQuery', plans, sameUntilMs: now.sameUntilMs, isRenewed, isCompact };
}

type Planning = Omit<PlanOptions, 'now' | 'budget'> & { readonly now: Now; readonly budget: Budget };

function planOne(model: Model, query: Query, viewer: Viewer, options: Planning): Plan {
  const zone = findZone(query.timezone);
  if (!zone)
    throw queryError(
      'invalid_query',
      'There is no such time zone. Give a name such as `Europe/Berlin`.',
      'timezone',
    );
  const clock: Clock = { zone, now: options.now };
  spend(options.budget, piecesIn(query));
  const found = findMembers(model, query, viewer, clock);
  const { outputs, members } = found;
  const { dataSource } = outputs[0]!.member.cube;
  const dialect =
    DIALECTS[typeof options.dialect === 'string' ? options.dialect : options.dialect(dataSource)];
  const context: PlanContext = {
    model,
    zone,
    dialect,
    viewer,
    cubes: new Set(),
    named: members.named,
    view: members.view,
    now: clock.now,
    budget: options.budget,
    hints: found.hints,
    subQuery: (rows, node, dimension) =>
      subQueryOf(context, rows, node, node.cube.dimensions.get(dimension)!),
  };
  const filters = rowFilters(found, clock);
  const made = query.ungrouped
    ? planUngrouped(context, found, filters)
    : planGrouped(context, found, filters, clock);
  const page = { ...made, ...pageOf(made.columns, outputs, query, options.rowsMax ?? ROWS_MAX) };
  return {
    statement: renderStatement(page, dialect, options.budget),
    total: query.total ? renderStatement(countOf(made), dialect, options.budget) : undefined,
    columns: outputs.map(({ column, key, member, kind, type, granularity }) => {
      return { column, key, member: member.key, kind, type, granularity };
    }),
    plainTimes: plainTimesOf(outputs),
    dataSource,
    cubes: [...context.cubes],
    view: members.view?.name,
    named: members.named,
    query: normalQuery(query, found, { zone, order: orderOf(query, outputs), limit: page.limit! }),
    annotation: annotationOf(model, found, viewer),
  };
}

const piecesIn = ({ measures, dimensions, timeDimensions, segments, filters }: Query) =>
  measures.length +
  dimensions.length +
  timeDimensions.length +
  segments.length +
  filters.reduce((sum, filter) => sum + piecesOf(filter), 0);

const orderOf = (query: Query, outputs: readonly Output[]) =>
  query.order ?? (query.ungrouped ? [] : usualOrder(outputs));

const countOf = (select: Select): Select => ({
  columns: [{ name: 'total', sql: sql`count(*)` }],
  from: { alias: 'rows', of: { select } },
});

function rowFilters({ filters, segments, times }: Found, clock: Clock): RowFilter[] {
  return [
    ...times.map(
      ({ member, span }): RowFilter => ({
        rangeOf: member.key,
        pieces: 1,
        make(rows) {
          // A time dimension without a range limits nothing, but its cube is part of the query.
          const node = rows.at(member.path);
          if (!span) return { condition: true, canFail: false };
          const time = rows.dimension(node, member.dimension.name);
          return { condition: within(time, span), canFail: !rows.isPlain(time) };
        },
      }),
    ),
    ...filters.onRows.map(
      (filter): RowFilter => ({
        pieces: piecesOf(filter),
        make(rows) {
          let isPlain = true;
          const condition = filterCondition(filter, clock, (member) => {
            if (member.kind === 'measure') {
              // The filters of a measure are any SQL.
              isPlain = false;
              return measureCondition(rows, member);
            }
            const { dimension, path } = member;
            const made = rows.dimension(rows.at(path), dimension.name);
            isPlain &&= rows.isPlain(made);
            return { type: dimension.type, sql: made };
          });
          return { condition, canFail: !isPlain || mayOverflow(condition) };
        },
      }),
    ),
    ...segments.map(
      ({ path, segment }): RowFilter => ({
        pieces: 1,
        make: (rows) => ({ condition: rows.segment(rows.at(path), segment.name), canFail: true }),
      }),
    ),
  ];
}

function planGrouped(
  context: PlanContext,
  found: Found,
  filters: readonly RowFilter[],
  clock: Clock,
): Select {
  const { model } = context;
  const { outputs } = found;
  const keys = outputs.flatMap((output): Key[] =>
    output.kind === 'measure'
      ? []
      : [{ name: output.column, member: output.member, granularity: output.granularity }],
  );
  const measures = outputs.flatMap((output) => (output.kind === 'measure' ? [output.member] : []));
  requireConnected(model, [...measures.map(({ path }) => path[0]!), ...found.paths.map(([first]) => first!)]);
  const groups = createGroups({
    context,
    keys,
    filters,
    home: measures.length ? [] : homeOf(model, context.view, found.paths, found.hints),
    windows: windowsOf(context, found),
  });
  const { onMeasures } = found.filters;
  const compared = onMeasures.flatMap(membersOf).map(requireMeasure);
  // Only when all measures were added it is known how they are put together.
  for (const member of [...measures, ...compared]) groups.add(member);
  const where = onMeasures.map((filter) =>
    filterCondition(filter, clock, (member) => {
      const measure = requireMeasure(member);
      return { type: typeOfMeasure(model, measure.measure), sql: groups.measure(measure) };
    }),
  );
  const values = new Map(measures.map((member) => [member as MeasureMember, groups.measure(member)]));
  const { from, joins, keys: keyColumns } = groups.finish();
  const columns = outputs.map((output, i) => ({
    name: output.column,
    sql: output.kind !== 'measure' ? keyColumns[i]! : shownMeasure(output.type, values.get(output.member)!),
  }));
  return { columns, from, joins, where };
}

function requireMeasure(member: Member): MeasureMember {
  if (member.kind !== 'measure') throw new Error('These filters are on measures.');
  return member;
}

/** The latest time, for example, is shown in UTC as other times are. */
const shownMeasure = (type: DimensionType, measure: Sql) => (type === 'time' ? shownInUtc(measure) : measure);

/** Rolling windows follow the one time dimension with a date range. */
function windowsOf({ zone }: PlanContext, { times }: Found): Grouping['windows'] {
  const [time, another] = times.filter(({ span }) => span);
  if (!time || another) return undefined;
  const { member, span, granularity } = time;
  const periods = granularity === undefined ? undefined : periodsBy(member, granularity);
  return { time: member, granularity, span: span!, periods, zone };
}

function periodsBy({ dimension }: DimensionMember, granularity: string): Periods {
  const custom = dimension.granularities.get(granularity);
  return custom ? requirePeriods(custom) : periodsOfUnit(granularity as Unit);
}

function plainTimesOf(outputs: readonly Output[]): Plan['plainTimes'] {
  const smallest = new Map<string, { readonly sameAs: string; readonly seconds: number }>();
  for (const { kind, key, member, granularity } of outputs) {
    if (kind !== 'timeDimension') continue;
    const periods = periodsBy(member, granularity);
    const seconds = 'seconds' in periods ? periods.seconds : periods.months * MONTH_SECONDS;
    if (seconds < (smallest.get(member.key)?.seconds ?? Number.POSITIVE_INFINITY))
      smallest.set(member.key, { sameAs: key, seconds });
  }
  // The query may ask for the time itself.
  for (const { key } of outputs) smallest.delete(key);
  return [...smallest].map(([key, { sameAs }]) => ({ key, sameAs }));
}

const MONTH_SECONDS = 30.4 * 86_400;

/** Order, limit and offset. Rows that are equal in the order are told apart by the other columns, so that pages fit. */
function pageOf(columns: readonly Column[], outputs: readonly Output[], query: Query, rowsMax: number) {
  const limit = Math.min(query.limit ?? rowsMax, rowsMax);
  const page = { limit, offset: query.offset };
  const given = orderOf(query, outputs);
  if (query.ungrouped && given.length === 0) return page;
  const ordered = new Map(given.map((item) => [indexOf(item, outputs), item.descending]));
  outputs.forEach(({ kind }, i) => {
    if (kind !== 'measure' && !ordered.has(i)) ordered.set(i, false);
  });
  const order = [...ordered].map(([i, descending]) => {
    const { sql: made } = columns[i]!;
    return { sql: outputs[i]!.type === 'string' ? call('textOrder', made) : made, descending };
  });
  return { ...page, order };
}

/** By time; or else the largest first; or else by the first dimension. */
function usualOrder(outputs: readonly Output[]): Order[] {
  const time = outputs.find(({ kind }) => kind === 'timeDimension');
  const first = time ?? outputs.find(({ kind }) => kind === 'measure') ?? outputs[0]!;
  return [{ name: first.key, path: '', descending: first.kind === 'measure' }];
}

function indexOf({ name, path }: Order, outputs: readonly Output[]): number {
  const index = outputs.findIndex(({ key }) => key === name);
  if (index >= 0) return index;
  // The plain name of a time is a column too: the one of its smallest granularity.
  const plain = plainTimesOf(outputs).find(({ key }) => key === name);
  const byMember = plain ? outputs.findIndex(({ key }) => key === plain.sameAs) : -1;
  if (byMember >= 0) return byMember;
  throw queryError(
    'invalid_query',
    `A query is ordered by members that it asks for, and not by \`${name.slice(0, 100)}\`.`,
    path,
  );
}
