import { operations } from '@oriel/contract';
import { may, withoutAction } from '../../platform/auth/access.ts';
import { embedOf } from '../../platform/auth/actor.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import { pivotQueryOf } from './answers.ts';
import { requireRows } from './branch-models.ts';
import type { PlannedQueries } from './plans.ts';
import type { Queries } from './queries.ts';
import { type QueryCall, type QueryInput, queryIn } from './query-calls.ts';
import * as store from './store.ts';

type Call = Omit<QueryCall, 'deploymentId'>;
type Path = { params: { deploymentId: number }; body?: object | undefined };
interface CacheOptions {
  queryType?: string | null;
  cache?: string | null;
}

export function queryRoutes(queries: Queries) {
  const callOf = (call: Call, { params, body }: Path): QueryCall => ({
    branchName: (body as { branchName?: string | null } | undefined)?.branchName ?? undefined,
    actor: call.actor,
    db: call.db,
    get signal() {
      return call.signal;
    },
    ...params,
  });
  const load = (call: QueryCall, query: QueryInput, { queryType, cache }: CacheOptions) => {
    if (call.branchName !== undefined) requireRows(call);
    return queries.load(call, query, { isMulti: queryType === 'multi', isRenewed: cache === 'no-cache' });
  };
  const sql = async (call: QueryCall, query: () => QueryInput) => {
    await queries.requireSql(call);
    return sqlOf(await queries.plan(call, query()));
  };
  return [
    ...[operations.load, operations.subscribe].map((operation) =>
      handle(operation, (call, input) => load(callOf(call, input), input.body.query, input.body)),
    ),
    ...[operations.loadByAddress, operations.subscribeByAddress].map((operation) =>
      handle(operation, (call, input) => load(callOf(call, input), queryIn(input.query.query), input.query)),
    ),

    handle(operations.runSql, async (call, input) => ({
      contentType: 'application/jsonl',
      data: await queries.loadSql(callOf(call, input), input.body.query, {
        isRenewed: input.body.cache === 'no-cache',
      }),
    })),

    handle(operations.queryDataSource, async (call, input) => {
      const { name, deploymentId } = input.params;
      const { query } = input.body;
      // A zero would end the text for some data sources, so that they run something else than the audit log says.
      if (query.includes('\0')) throw invalid('query', 'must not have the character U+0000');
      const asked = { id: name, before: null, after: { dataSource: name, query } };
      // An error of the data source can tell of its rows too, so the entry is there before the statement runs.
      await call.change(async () => ({ reply: null, changes: asked }));
      const data = await queries.loadSourceSql(callOf(call, { params: { deploymentId } }), name, query);
      return call.change(async () => ({
        reply: { contentType: 'application/jsonl' as const, data },
        changes: [],
      }));
    }),

    handle(operations.getQueryMeta, (call, input) =>
      queries.meta(callOf(call, input), input.query.onlyViews === true),
    ),
    handle(operations.postQueryMeta, (call, input) =>
      queries.meta(callOf(call, input), input.body.onlyViews === true),
    ),

    handle(operations.querySql, (call, input) => sql(callOf(call, input), () => input.body.query)),
    handle(operations.querySqlByAddress, (call, input) =>
      sql(callOf(call, input), () => queryIn(input.query.query)),
    ),

    handle(operations.dryRunQuery, async (call, input) =>
      understood(await queries.plan(callOf(call, input), input.body.query)),
    ),
    handle(operations.dryRunQueryByAddress, async (call, input) =>
      understood(await queries.plan(callOf(call, input), queryIn(input.query.query))),
    ),

    handle(operations.explainQuery, async (call, input) => {
      const { query, viewer } = input.body;
      if (!embedOf(call.actor)) return queries.explain(callOf(call, input), query, viewer ?? undefined);
      if (viewer != null) throw invalid('viewer', 'cannot be given with an embed token');
      return queries.explainOwn(callOf(call, input), query);
    }),
    handle(operations.explainAccess, async (call, input) => {
      const { userId, viewer } = input.body;
      if (userId == null) return queries.explainAccess(callOf(call, input), viewer ?? undefined);
      if (viewer != null) throw invalid('userId', 'cannot be given beside `viewer`');
      // Only admins may know the groups and attributes of another person.
      if (userId !== call.actor.userId && !may(call.actor, 'All')) throw withoutAction('All');
      if (!(await store.isPerson(call.db, userId))) throw new ApiError('user_not_found');
      return queries.explainAccess(callOf(call, input), { userId });
    }),
  ];
}

function sqlOf({ queries }: PlannedQueries) {
  const all = queries.map(({ statement, dataSource, dbType }) => ({
    sql: { sql: [statement.sql, [...(statement.parameters ?? [])]], dataSource, dbType },
  }));
  return all.length === 1 ? all[0]! : all;
}

function understood({ type, queries }: PlannedQueries) {
  const normalizedQueries = queries.map(({ query }) => query);
  return {
    queryType: type,
    normalizedQueries,
    pivotQuery: pivotQueryOf(type, normalizedQueries),
    queryOrder: normalizedQueries.map(({ order }) =>
      Object.fromEntries(order.map(({ id, desc }) => [id, desc ? ('desc' as const) : ('asc' as const)])),
    ),
    transformedQueries: [],
  };
}
