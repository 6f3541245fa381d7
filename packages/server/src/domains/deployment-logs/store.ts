import type { Queryable } from '../../platform/db/database.ts';
import { json, sql } from '../../platform/db/sql.ts';

export interface NewLine {
  deploymentId: number;
  source: 'production' | 'dev';
  container: string;
  pod: string;
  message: string;
  at: string;
}

/** Leaves out the lines of deployments that do not exist any more. */
export const insertLines = (db: Queryable, lines: readonly NewLine[]) =>
  db.run(sql`
    with there as (
      select id from deployments
      where id = any(${[...new Set(lines.map(({ deploymentId }) => deploymentId))]}::bigint[]) for key share)
    insert into deployment_log_lines (deployment_id, source, container, pod, message, created_at)
    select "deploymentId", source, container, pod, message, at
    from json_to_recordset(${json(lines)})
      as n ("deploymentId" bigint, source text, container text, pod text, message text, at timestamptz)
    where "deploymentId" in (select id from there)`);

/** Deletes up to this many of the oldest lines that are too many. Returns how many it deleted. */
export const deleteOldLines = (db: Queryable, deploymentId: number, keep: number, rows: number) =>
  db.run(sql`
    delete from deployment_log_lines where id = any(array(
      select id from deployment_log_lines
      where deployment_id = ${deploymentId} and id <= (
        select id from deployment_log_lines where deployment_id = ${deploymentId}
        order by id desc offset ${keep} limit 1)
      order by id limit ${rows}))`);

export interface LineFilter {
  deploymentId: number;
  source: string | null;
  container: string | null;
  pod: string | null;
}

export interface LineRow {
  id: number;
  date: string;
  message: string;
  pod: string;
}

/** Returns the lines before the given id, newest first. */
export const listLines = (
  db: Queryable,
  { deploymentId, source, container, pod }: LineFilter,
  page: { beforeId: number | null; limit: number },
) =>
  db.many<LineRow>(sql`
    select id, created_at as date, message, pod from deployment_log_lines
    where deployment_id = ${deploymentId}
      and (${source}::text is null or source = ${source})
      and (${container}::text is null or container = ${container})
      and (${pod}::text is null or pod = ${pod})
      and (${page.beforeId}::bigint is null or id < ${page.beforeId})
    order by id desc limit ${page.limit}`);
