import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

/** What one run of a process has counted on a day. */
export interface UsageCount {
  /** Such as 2026-01-31. */
  day: string;
  /** Empty for the account itself. */
  embedTenant: string;
  sessions: number;
  queries: number;
  cachedQueries: number;
  rows: number;
}

export interface SeenViewer {
  day: string;
  embedTenant: string;
  userId: number;
}

/** Replaces what the run has written before, so that a write that is repeated counts nothing twice. */
export const upsertCounted = (db: Queryable, run: string, counted: readonly UsageCount[]) =>
  db.run(sql`
    insert into usage_counters (day, embed_tenant, run, sessions, queries, cached_queries, result_rows)
    select day, "embedTenant", ${run}, sessions, queries, "cachedQueries", rows
    from json_to_recordset(${json(counted)})
      as n (day date, "embedTenant" text, sessions bigint, queries bigint, "cachedQueries" bigint, rows bigint)
    on conflict (day, embed_tenant, run) do update set sessions = excluded.sessions, queries = excluded.queries,
      cached_queries = excluded.cached_queries, result_rows = excluded.result_rows`);

export const insertViewers = (db: Queryable, viewers: readonly SeenViewer[]) =>
  db.run(sql`
    insert into usage_viewers (day, embed_tenant, user_id)
    select day, "embedTenant", "userId"
    from json_to_recordset(${json(viewers)}) as n (day date, "embedTenant" text, "userId" bigint)
    order by 1, 2, 3
    on conflict do nothing`);

export interface UsageRow {
  day: string;
  embedTenantName: string | null;
  sessions: number;
  viewers: number;
  queries: number;
  cachedQueries: number;
  rows: number;
}

export interface UsageFilter {
  from: string;
  to: string;
  embedTenantName: string | null;
  /** Whether all embed tenants of a day are one row. */
  isSum: boolean;
}

/** Newest day first, and by embed tenant within a day, the account itself before all others. */
export const listUsage = (
  db: Queryable,
  { from, to, embedTenantName, isSum }: UsageFilter,
  page: { after: readonly [day: string, embedTenant: string] | null; limit: number },
) => {
  const [day, embedTenant] = page.after ?? [null, null];
  return db.many<UsageRow>(sql`
    with counted as (
      select c.day, c.embed_tenant, sum(c.sessions)::bigint as sessions,
        sum(c.viewers)::bigint + (
          select count(*) from usage_viewers v where v.day = c.day and v.embed_tenant = c.embed_tenant) as viewers,
        sum(c.queries)::bigint as queries, sum(c.cached_queries)::bigint as cached_queries,
        sum(c.result_rows)::bigint as result_rows
      from usage_counters c
      where c.day between ${from}::date and ${to}::date
        and (${embedTenantName}::text is null or c.embed_tenant = ${embedTenantName})
        and (${day}::date is null or c.day < ${day}::date
          or (c.day = ${day}::date and not ${isSum} and c.embed_tenant collate "C" > ${embedTenant}))
      group by c.day, c.embed_tenant),
    shown as (
      select day, case when not ${isSum} then embed_tenant end as embed_tenant, sum(sessions)::bigint as sessions,
        sum(viewers)::bigint as viewers, sum(queries)::bigint as queries,
        sum(cached_queries)::bigint as cached_queries, sum(result_rows)::bigint as result_rows
      from counted group by 1, 2)
    select to_char(day, 'YYYY-MM-DD') as day, nullif(embed_tenant, '') as "embedTenantName", sessions, viewers, queries,
      cached_queries as "cachedQueries", result_rows as rows
    from shown order by shown.day desc, shown.embed_tenant collate "C" limit ${page.limit}`);
};

/** The oldest day before the given one whose runs are not put together yet. */
export const findUnmergedDay = async (db: Queryable, before: string) =>
  (
    await db.one<{ day: string | null }>(sql`
      select to_char(min(day), 'YYYY-MM-DD') as day from usage_counters where day < ${before}::date and run <> ''`)
  ).day;

/** Puts the counters of all runs of a day together, one row for each embed tenant. */
export async function mergeDay(tx: Tx, day: string) {
  await tx.run(sql`
    with counted as (delete from usage_counters where day = ${day}::date and run <> '' returning *),
    seen as (delete from usage_viewers where day = ${day}::date returning embed_tenant),
    viewers as (select embed_tenant, count(*) as viewers from seen group by embed_tenant),
    merged as (
      select embed_tenant, sum(sessions) as sessions, sum(queries) as queries, sum(cached_queries) as cached_queries,
        sum(result_rows) as result_rows
      from counted group by embed_tenant)
    insert into usage_counters (day, embed_tenant, run, sessions, viewers, queries, cached_queries, result_rows)
    select ${day}::date, m.embed_tenant, '', m.sessions, coalesce(v.viewers, 0), m.queries, m.cached_queries, m.result_rows
    from merged m left join viewers v using (embed_tenant)
    on conflict (day, embed_tenant, run) do update set sessions = usage_counters.sessions + excluded.sessions,
      viewers = usage_counters.viewers + excluded.viewers, queries = usage_counters.queries + excluded.queries,
      cached_queries = usage_counters.cached_queries + excluded.cached_queries,
      result_rows = usage_counters.result_rows + excluded.result_rows`);
}
