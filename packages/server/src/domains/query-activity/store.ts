import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

/** The query, and its caller. */
export interface QueryContext {
  process: string;
  deploymentId: number;
  userId: number | null;
  embedTenantName: string | null;
  apiKeyId: number | null;
  kind: 'query' | 'sql';
  query: string;
  startedAt: string;
}

export interface RunningRow extends QueryContext {
  id: string;
  isRunning: boolean;
}

export interface NewSlowQuery extends QueryContext {
  durationMs: number;
  outcome: 'answered' | 'failed' | 'cancelled';
  errorCode: string | null;
  rows: number | null;
  isCached: boolean;
}

export interface SlowRow extends NewSlowQuery {
  id: number;
  userName: string | null;
  externalId: string | null;
}

const ASKED = sql`process, deployment_id as "deploymentId", user_id as "userId", embed_tenant as "embedTenantName",
  api_key_id as "apiKeyId", kind, query, started_at as "startedAt"`;
/** The columns of a row as JSON. */
const GIVEN = sql`process text, "deploymentId" bigint, "userId" bigint, "embedTenantName" text, "apiKeyId" bigint, kind text,
  query text, "startedAt" timestamptz`;

export const insertRunning = (db: Queryable, rows: readonly RunningRow[]) =>
  db.run(sql`
    insert into running_queries
      (process, deployment_id, user_id, embed_tenant, api_key_id, kind, query, started_at, id, is_running)
    select * from json_to_recordset(${json(rows)}) as n (${GIVEN}, id text, "isRunning" boolean)
    on conflict (id) do nothing`);

/** Renews the rows of these queries, and returns those that are to be cancelled. */
export const renewRunning = (db: Queryable, running: readonly string[], waiting: readonly string[]) =>
  db.many<{ id: string; isCancelled: boolean }>(sql`
    update running_queries set seen_at = now(), is_running = id = any(${running}::text[])
    where id = any(${[...running, ...waiting]}::text[])
    returning id, is_cancelled as "isCancelled"`);

/** Deletes queries that have ended, and those of processes that are gone. */
export const deleteRunning = (db: Queryable, ids: readonly string[], silentMs: number) =>
  db.run(sql`
    delete from running_queries
    where id = any(${ids}::text[]) or seen_at < now() - ${silentMs} * interval '1 ms'`);

/** Lists queries of other processes: their ids do not begin with this prefix. */
export const listRunningElsewhere = (db: Queryable, prefix: string, seenMs: number, limit: number) =>
  db.many<RunningRow>(sql`
    select id, ${ASKED}, is_running as "isRunning" from running_queries
    where not starts_with(id, ${prefix}) and seen_at > now() - ${seenMs} * interval '1 ms' and not is_cancelled
    order by started_at limit ${limit}`);

/** Asks the process that runs the query to end it. Returns nothing if no process that is alive runs it. */
export async function askToCancel(tx: Tx, id: string, seenMs: number, channel: string) {
  const row = await tx.maybeOne<RunningRow>(sql`
    update running_queries set is_cancelled = true
    where id = ${id} and not is_cancelled and seen_at > now() - ${seenMs} * interval '1 ms'
    returning id, ${ASKED}, is_running as "isRunning"`);
  if (row) await tx.run(sql`select pg_notify(${channel}, ${id})`);
  return row;
}

export const insertSlow = (db: Queryable, rows: readonly NewSlowQuery[]) =>
  db.run(sql`
    insert into slow_queries (process, deployment_id, user_id, embed_tenant, api_key_id, kind, query, started_at,
      duration_ms, outcome, error_code, row_count, is_cached)
    select * from json_to_recordset(${json(rows)}) as n
      (${GIVEN}, "durationMs" int, outcome text, "errorCode" text, rows bigint, "isCached" boolean)`);

export interface SlowFilter {
  deploymentId: number | null;
  embedTenantName: string | null;
  userId: number | null;
  minMs: number | null;
  from: string | null;
  to: string | null;
}

/** Newest first, before this id. */
export const listSlow = (
  db: Queryable,
  filter: SlowFilter,
  page: { beforeId: number | null; limit: number },
) =>
  db.many<SlowRow>(sql`
    select s.id, s.process, s.deployment_id as "deploymentId", s.user_id as "userId", s.embed_tenant as "embedTenantName",
      s.api_key_id as "apiKeyId", s.kind, s.query, s.started_at as "startedAt", s.duration_ms as "durationMs", s.outcome,
      s.error_code as "errorCode", s.row_count as rows, s.is_cached as "isCached",
      coalesce(nullif(u.first_name, ''), u.username) as "userName",
      case when s.embed_tenant is not null then u.external_id end as "externalId"
    from slow_queries s left join users u on u.id = s.user_id and u.deleted_at is null
    where (${page.beforeId}::bigint is null or s.id < ${page.beforeId})
      and (${filter.deploymentId}::bigint is null or s.deployment_id = ${filter.deploymentId})
      and (${filter.embedTenantName}::text is null or s.embed_tenant = ${filter.embedTenantName})
      and (${filter.userId}::bigint is null or s.user_id = ${filter.userId})
      and (${filter.minMs}::int is null or s.duration_ms >= ${filter.minMs})
      and (${filter.from}::timestamptz is null or s.started_at >= ${filter.from})
      and (${filter.to}::timestamptz is null or s.started_at < ${filter.to})
    order by s.id desc limit ${page.limit}`);

export const deleteOldSlow = (db: Queryable, retentionDays: number, rows: number) =>
  db.run(sql`
    delete from slow_queries where id = any(array(
      select id from slow_queries where started_at < now() - ${retentionDays} * interval '24 hours' order by id limit ${rows}))`);

/** Deletes all but the newest slow queries. */
export const deleteExcessSlow = (db: Queryable, kept: number, rows: number) =>
  db.run(sql`
    delete from slow_queries where id = any(array(
      select id from slow_queries
      where id <= (select id from slow_queries order by id desc offset ${kept} limit 1) order by id limit ${rows}))`);

export interface NamedUser {
  id: number;
  userName: string;
  externalId: string | null;
}

export const findNames = (db: Queryable, ids: readonly number[]) =>
  db.many<NamedUser>(sql`
    select id, coalesce(nullif(first_name, ''), username) as "userName", external_id as "externalId"
    from users where id = any(${[...ids]}::bigint[]) and deleted_at is null`);
