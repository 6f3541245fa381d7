/** From a model, a query and a viewer to SQL with parameters. */
import type { DimensionType, Model } from '../model.ts';
import { type Annotation, annotationOf } from '../shown/annotations.ts';
import { type Clock, createNow, type QueryTime } from '../times/ranges.ts';
import { findZone } from '../times/zones.ts';
import { type Budget, createPlanBudget, spend } from './budget.ts';
import { namesOf } from './calculated/fields.ts';
import { BELOW, type FoundCalculated } from './calculated/find.ts';
import { mayOverflow, within } from './comparisons.ts';
import { clickhouse } from './dialects/clickhouse.ts';
import { duckdb } from './dialects/duckdb.ts';
import { postgres } from './dialects/postgres.ts';
import { queryError } from './errors.ts';
import type { Grouping, Key, PlanContext, RowFilter } from './facts.ts';
import { filterCondition, membersOf, piecesOf } from './filters.ts';
import { findMembers, type QueryMembers } from './find.ts';
import { createGroups } from './groups.ts';
import { homeOf } from './homes.ts';
import { measureCondition, typeOfMeasure } from './measures.ts';
import type { MeasureMember, Member } from './members.ts';
import { type NormalQuery, normalQuery } from './normal-query.ts';
import {
  type Output,
  type OutputColumn,
  orderOf,
  type PlainTime,
  pageOf,
  periodsBy,
  plainTimesOf,
} from './pages.ts';
import { requireConnected } from './paths.ts';
import type { Query } from './query.ts';
import { readQuery } from './read-query.ts';
import { type Dialect, renderStatement, type Statement } from './render.ts';
import { columnOf, type Select, type Sql, shownInUtc, sql } from './sql.ts';
import { subQueryOf } from './sub-queries.ts';
import { planUngrouped } from './ungrouped.ts';
import type { Viewer } from './viewer.ts';

export const DIALECTS = { duckdb, postgres, clickhouse } satisfies Record<string, Dialect>;
export type DialectName = keyof typeof DIALECTS;

export interface PlanOptions {
  /** The dialect of the data source. All cubes that joins connect have the same data source. */
  readonly dialect: DialectName | ((dataSource: string) => DialectName);
  /** Decides what `today` is. */
  readonly now: Date;
  /** The largest number of rows of an answer, whatever the query asks for. */
  readonly rowsMax?: number;
  /** The budget that the queries of a request share. Without one, each query has its own. */
  readonly budget?: Budget;
}

export const ROWS_MAX = 50_000;

export interface Plan {
  readonly statement: Statement;
  /** Counts the rows that there would be without limit and offset, if the query asks for it. */
  readonly total: Statement | undefined;
  readonly columns: readonly PlannedColumn[];
  /** Columns that rows have under another name too: times under their plain ones, in the smallest granularity. */
  readonly plainTimes: readonly PlainTime[];
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
  const planning = { ...options, now, budget: options.budget ?? createPlanBudget() };
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

type PlanningOptions = Omit<PlanOptions, 'now' | 'budget'> & {
  readonly now: QueryTime;
  readonly budget: Budget;
};

function planOne(model: Model, query: Query, viewer: Viewer, options: PlanningOptions): Plan {
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
  const { outputs, members, calculated } = found;
  const { dataSource } = (outputs[0] ?? calculated.bases[0]!).member.cube;
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
    : withCalculated(planGrouped(context, found, filters, clock), outputs, calculated);
  const all: OutputColumn[] = [...outputs, ...calculated.fields];
  const plainTimes = plainTimesOf(outputs);
  const page = { ...made, ...pageOf(made.columns, all, plainTimes, query, options.rowsMax ?? ROWS_MAX) };
  return {
    statement: renderStatement(page, dialect, options.budget),
    total: query.total ? renderStatement(countOf(made), dialect, options.budget) : undefined,
    columns: [
      ...outputs.map(({ column, key, member, kind, type, granularity }) => {
        return { column, key, member: member.key, kind, type, granularity };
      }),
      ...calculated.fields.map(({ column, key, kind, type }) => {
        return { column, key, member: key, kind, type, granularity: undefined };
      }),
    ],
    plainTimes,
    dataSource,
    cubes: [...context.cubes],
    view: members.view?.name,
    named: members.named,
    query: normalQuery(query, found, { zone, order: orderOf(query, all), limit: page.limit! }),
    annotation: annotationOf(model, found, viewer),
  };
}

const piecesIn = ({ measures, dimensions, timeDimensions, segments, filters, calculated }: Query) =>
  measures.length +
  dimensions.length +
  timeDimensions.length +
  segments.length +
  calculated.reduce((sum, field) => sum + 1 + namesOf(field).length, 0) +
  filters.reduce((sum, filter) => sum + piecesOf(filter), 0);

const countOf = (select: Select): Select => ({
  columns: [{ name: 'total', sql: sql`count(*)` }],
  from: { alias: 'rows', of: { select } },
});

function rowFilters({ filters, segments, times }: QueryMembers, clock: Clock): RowFilter[] {
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
  found: QueryMembers,
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
  const { bases } = found.calculated;
  const shown = outputs.flatMap((output) => (output.kind === 'measure' ? [output.member] : []));
  const measures = [...shown, ...bases.map(({ member }) => member)];
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
  const more = bases.map(({ column, type, member }) => ({
    name: column,
    sql: shownMeasure(type, values.get(member)!),
  }));
  return { columns: [...columns, ...more], from, joins, where };
}

/**
 * Calculated fields stand around what they are computed from: each level is a select of all columns of the one below, and
 * of its own. The last one has the columns of the answer.
 */
function withCalculated(grouped: Select, outputs: readonly Output[], { fields }: FoundCalculated): Select {
  if (!fields.length) return grouped;
  let below = grouped;
  const from = (select: Select) => ({ alias: BELOW, of: { select } });
  const same = (column: string) => ({ name: column, sql: columnOf(BELOW, column) });
  const levels = Math.max(...fields.map(({ level }) => level));
  for (let level = 1; level <= levels; level++) {
    const own = fields.filter((field) => field.level === level);
    below = {
      columns: [
        ...below.columns.map(({ name }) => same(name)),
        ...own.map((field) => ({ name: field.column, sql: field.sql })),
      ],
      from: from(below),
    };
  }
  return { columns: [...outputs, ...fields].map(({ column }) => same(column)), from: from(below) };
}

function requireMeasure(member: Member): MeasureMember {
  if (member.kind !== 'measure') throw new Error('These filters are on measures.');
  return member;
}

/** The latest time, for example, is shown in UTC as other times are. */
const shownMeasure = (type: DimensionType, measure: Sql) => (type === 'time' ? shownInUtc(measure) : measure);

/** Rolling windows follow the one time dimension with a date range. */
function windowsOf({ zone }: PlanContext, { times }: QueryMembers): Grouping['windows'] {
  const [time, another] = times.filter(({ span }) => span);
  if (!time || another) return undefined;
  const { member, span, granularity } = time;
  const periods = granularity === undefined ? undefined : periodsBy(member, granularity);
  return { time: member, granularity, span: span!, periods, zone };
}
