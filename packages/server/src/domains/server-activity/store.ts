import type { EngineState, SourceHealth } from '../../engines/engines.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

export interface Report {
  process: string;
  engines: EngineState[];
  sources: SourceHealth[];
}

export const upsertReport = (db: Queryable, { process, engines, sources }: Report) =>
  db.run(sql`
    insert into server_reports (process, engines, sources)
    values (${process}, ${json(engines)}, ${json(sources)})
    on conflict (process) do update set engines = excluded.engines, sources = excluded.sources, seen_at = now()`);

export const deleteOldReports = (db: Queryable, retentionDays: number) =>
  db.run(sql`delete from server_reports where seen_at < now() - ${retentionDays} * interval '24 hours'`);

/** The reports of other processes. Their engines count only if they were seen lately. */
export const listReports = (db: Queryable, process: string, seenMs: number, limit: number) =>
  db.many<Report>(sql`
    select process, sources,
      case when seen_at > now() - ${seenMs} * interval '1 ms' then engines else '[]' end as engines
    from server_reports where process <> ${process} order by seen_at desc limit ${limit}`);

export const listKnownDeployments = (db: Queryable, ids: readonly number[]) =>
  db.many<{ id: number }>(sql`select id from deployments where id = any(${[...ids]}::bigint[])`);

export interface Minute {
  requests: number;
  errors: number;
  /** One count for each bound, and one for what took longer. */
  latency: number[];
  sessions: number;
  queries: number;
  cachedQueries: number;
}

export const insertMinute = (db: Queryable, run: string, counted: Minute) =>
  db.run(sql`
    insert into server_minutes
      (minute, run, requests, errors, latency, sessions, queries, cached_queries, connections)
    select date_trunc('minute', now()), ${run}, ${counted.requests}, ${counted.errors},
      ${counted.latency}::bigint[], ${counted.sessions}, ${counted.queries}, ${counted.cachedQueries},
      (select count(*) from pg_stat_activity where datname = current_database())
    on conflict (minute, run) do update set requests = server_minutes.requests + excluded.requests,
      errors = server_minutes.errors + excluded.errors,
      latency = array(
        select u.a + u.b from unnest(server_minutes.latency, excluded.latency) with ordinality as u (a, b, i)
        order by u.i),
      sessions = server_minutes.sessions + excluded.sessions, queries = server_minutes.queries + excluded.queries,
      cached_queries = server_minutes.cached_queries + excluded.cached_queries,
      connections = greatest(server_minutes.connections, excluded.connections)`);

export const deleteOldMinutes = (db: Queryable, retentionHours: number) =>
  db.run(sql`delete from server_minutes where minute < now() - ${retentionHours} * interval '1 hour'`);

export interface PointRow extends Minute {
  at: string;
  connections: number;
}

/** Oldest first, `stepMinutes` in one row. */
export const listPoints = (db: Queryable, hours: number, stepMinutes: number) =>
  db.many<PointRow>(sql`
    with stepped as (
      select date_bin(${stepMinutes} * interval '1 minute', minute, 'epoch'::timestamptz) as at, *
      from server_minutes where minute > now() - ${hours} * interval '1 hour'),
    counted as (
      select at, i, sum(n)::bigint as n from stepped cross join unnest(latency) with ordinality as u (n, i)
      group by at, i),
    latency as (select at, json_agg(n order by i) as latency from counted group by at)
    select s.at, sum(s.requests)::bigint as requests, sum(s.errors)::bigint as errors,
      (select l.latency from latency l where l.at = s.at) as latency, sum(s.sessions)::bigint as sessions,
      sum(s.queries)::bigint as queries, sum(s.cached_queries)::bigint as "cachedQueries",
      max(s.connections) as connections
    from stepped s group by s.at order by s.at`);
