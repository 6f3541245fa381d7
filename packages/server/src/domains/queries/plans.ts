/** From the query of a caller to statements. Runs on the loop and in threads; see `planner.ts`. */
import { createHash } from 'node:crypto';
import {
  type Budget,
  type DialectName,
  limitsRows,
  type Model,
  type NormalQuery,
  type Plan,
  type PlanOptions,
  planQuery,
  type RefreshKey,
  ROWS_MAX,
  type Viewer,
} from '@oriel/semantic';
import type { MoreValue, Query } from '../../engines/engine.ts';
import type { FindSource, OpenSource } from './sources.ts';

export type AnswerType = 'regularQuery' | 'compareDateRangeQuery' | 'blendingQuery';

/** What is known without the source itself, so that a thread can make it. */
export interface MadeQuery {
  /** The query as clients see it. */
  query: NormalQuery & { responseFormat?: 'compact' };
  dataSource: string;
  dbType: string;
  /** The text with which each answer begins: an object that is not closed. */
  head: string;
  statement: Query;
  total: Query | undefined;
  /** The names of the values in a row, if rows are arrays. */
  members: readonly string[] | undefined;
  isRenewed: boolean;
  /** The refresh keys of the cubes that the statement reads. */
  refreshKeys: readonly (RefreshKey | undefined)[];
}

export interface PlannedQuery extends MadeQuery {
  source: OpenSource;
}

export interface PlanContext {
  model: Model;
  viewer: Viewer;
  source: FindSource;
  now: Date;
}

/** What a plan is made with. */
export interface MakeContext extends Omit<PlanContext, 'source'> {
  /** The type of a data source, by its name. */
  typeOf: (dataSource: string) => DialectName;
  budget: Budget;
}

interface QueryBatch<Query> {
  type: AnswerType;
  queries: Query[];
  /** Until then, the same query has the same plan. Infinite if it does not depend on the time. */
  sameUntilMs: number;
}

export type MadeQueries = QueryBatch<MadeQuery>;
export type PlannedQueries = QueryBatch<PlannedQuery>;

export const withSources = ({ queries, ...made }: MadeQueries, source: FindSource): PlannedQueries => ({
  ...made,
  queries: queries.map((query): PlannedQuery => ({ ...query, source: source(query.dataSource) })),
});

export const planOptions = ({ typeOf, now, budget }: MakeContext): PlanOptions => ({
  dialect: typeOf,
  now,
  // One more than an answer may have, so that the engine notices that there are more.
  rowsMax: ROWS_MAX + 1,
  budget,
});

/** Throws a `QueryError` if a query is wrong. */
export function planQueries(given: object | readonly object[], context: MakeContext): MadeQueries {
  const list = Array.isArray(given) ? (given as object[]) : [given];
  const planned = list.map((query) => planOne(query, context));
  const [first] = planned as [MadeQueries, ...MadeQueries[]];
  if (list.length === 1) return first;
  const queries = planned.flatMap(({ queries }) => queries);
  const sameUntilMs = Math.min(...planned.map((one) => one.sameUntilMs));
  return { type: 'blendingQuery', queries: queries.map(withBlendedTime), sameUntilMs };
}

function planOne(json: object, context: MakeContext): MadeQueries {
  const { model, viewer, typeOf } = context;
  const { type, plans, sameUntilMs, isRenewed, isCompact } = planQuery(
    model,
    json,
    viewer,
    planOptions(context),
  );
  const refreshKeysOf = ({ cubes }: Plan) => cubes.map((name) => model.cubes.get(name)!.refreshKey);
  return {
    type,
    sameUntilMs,
    queries: plans.map((plan) => ({
      ...toMade(plan, typeOf(plan.dataSource), {
        isCompact,
        isRenewed,
        isLimited: limitsRows(model, viewer, plan),
        more: [...plan.plainTimes, ...(type === 'compareDateRangeQuery' ? comparedRange(plan) : [])],
      }),
      refreshKeys: refreshKeysOf(plan),
    })),
  };
}

interface AnswerOptions {
  isCompact: boolean;
  isRenewed: boolean;
  isLimited: boolean;
  more: readonly MoreValue[];
}

function toMade(
  plan: Plan,
  dbType: DialectName,
  { isCompact, isRenewed, isLimited, more }: AnswerOptions,
): Omit<MadeQuery, 'refreshKeys'> {
  const { statement, total, columns, annotation, dataSource } = plan;
  const keys = columns.map(({ key }) => key);
  const limited = { ...plan.query, limit: Math.min(plan.query.limit, ROWS_MAX) };
  const query = isCompact ? { ...limited, responseFormat: 'compact' as const } : limited;
  const head = {
    query,
    annotation,
    dataSource,
    dbType,
    external: false,
    slowQuery: false,
    ...(isLimited && { rowsLimited: true }),
  };
  return {
    query,
    dataSource,
    dbType,
    head: JSON.stringify(head).slice(0, -1),
    statement: {
      sql: statement.sql,
      parameters: statement.parameters,
      keys,
      rowForm: isCompact ? 'arrays' : 'objects',
      more,
    },
    total: total && { sql: total.sql, parameters: total.parameters, rowForm: 'arrays' },
    members: isCompact ? [...keys, ...more.map(({ key }) => key)] : undefined,
    isRenewed,
  };
}

/** Clients tell the ranges apart by it. */
function comparedRange({ query: { timeDimensions } }: Plan): MoreValue[] {
  const range = timeDimensions.find(({ dateRange }) => dateRange)?.dateRange;
  return range ? [{ key: 'compareDateRange', text: range.join(' - ') }] : [];
}

/** Several queries have their time in common, under one name. */
function withBlendedTime(planned: MadeQuery): MadeQuery {
  const time = planned.query.timeDimensions.find(({ granularity }) => granularity !== undefined);
  if (!time) return planned;
  const more = [
    ...(planned.statement.more ?? []),
    { key: `time.${time.granularity}`, sameAs: `${time.dimension}.${time.granularity}` },
  ];
  const members = planned.members && [...planned.members, more.at(-1)!.key];
  return { ...planned, members, statement: { ...planned.statement, more } };
}

/** Everything that a result depends on. */
export const keyOf = (
  source: Pick<OpenSource, 'id' | 'version'>,
  statement: Query,
  version: readonly string[],
): string => JSON.stringify([source.id, source.version(), version, statementHash(statement)]);

/** Kept together with the statement, which is kept with its plan. */
const statementHashes = new WeakMap<Query, string>();

/** The hashes of large statements come with them from the thread that made them. */
export const rememberHash = (statement: Query, hash: string) => statementHashes.set(statement, hash);

export function statementHash(statement: Query): string {
  let hash = statementHashes.get(statement);
  if (hash === undefined) {
    hash = hashOf(JSON.stringify(statement));
    statementHashes.set(statement, hash);
  }
  return hash;
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
