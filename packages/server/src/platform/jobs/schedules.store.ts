import type { Queryable, Tx } from '../db/database.ts';
import { json, sql } from '../db/sql.ts';
import { LAST_JOB_HAS_ENDED } from './store.ts';

export interface ScheduleRow {
  name: string;
  kind: string;
  payload: object;
  cron: string | null;
  everySeconds: number | null;
  timeZone: string;
  deploymentId: number | null;
  userId: number | null;
}

/** Does not write a row that is already the same. The next time changes only if the pattern changes. */
export const upsertSchedule = (tx: Tx, row: ScheduleRow, nextRunAt: string | null) =>
  tx.run(sql`
    insert into job_schedules as s
      (name, kind, payload, cron, every_seconds, time_zone, deployment_id, user_id, next_run_at)
    values (${row.name}, ${row.kind}, ${json(row.payload)}, ${row.cron}, ${row.everySeconds},
            ${row.timeZone}, ${row.deploymentId}, ${row.userId}, ${nextRunAt})
    on conflict (name) do update set
      kind = excluded.kind, payload = excluded.payload, cron = excluded.cron, every_seconds = excluded.every_seconds,
      time_zone = excluded.time_zone, deployment_id = excluded.deployment_id, user_id = excluded.user_id, error = null,
      next_run_at = case
        when s.error is null and (s.cron, s.every_seconds, s.time_zone)
          is not distinct from (excluded.cron, excluded.every_seconds, excluded.time_zone) then s.next_run_at
        else excluded.next_run_at end
    where s.error is not null or
      (s.kind, s.payload, s.cron, s.every_seconds, s.time_zone, s.deployment_id, s.user_id)
      is distinct from (excluded.kind, excluded.payload, excluded.cron, excluded.every_seconds, excluded.time_zone,
                        excluded.deployment_id, excluded.user_id)`);

export const deleteSchedule = (tx: Tx, name: string) =>
  tx.run(sql`delete from job_schedules where name = ${name}`);

export const deleteSchedulesOfUser = (tx: Tx, userId: number) =>
  tx.run(sql`delete from job_schedules where user_id = ${userId}`);

export type DueSchedule = ScheduleRow & { nextRunAt: string; now: string };

/**
 * Locks the schedules that are due until the end of the transaction, except the ones that another server has locked or
 * whose last job has not ended.
 */
export const lockDueSchedules = (tx: Tx, kinds: string[], limit: number) =>
  tx.many<DueSchedule>(sql`
    select name, kind, payload, cron, every_seconds as "everySeconds", time_zone as "timeZone",
      deployment_id as "deploymentId", user_id as "userId", next_run_at as "nextRunAt", clock_timestamp() as now
    from job_schedules s
    where next_run_at <= now() and kind = any(${kinds}) and ${LAST_JOB_HAS_ENDED}
    order by next_run_at limit ${limit} for update skip locked`);

export const updateSchedules = (
  tx: Tx,
  rows: { name: string; nextRunAt: string | null; error: string | null }[],
) =>
  tx.run(sql`
    update job_schedules s set next_run_at = n."nextRunAt", error = n.error
    from json_to_recordset(${json(rows)}) as n (name text, "nextRunAt" timestamptz, error text)
    where s.name = n.name`);

export const countParkedSchedules = async (db: Queryable) =>
  (await db.one<{ count: number }>(sql`select count(*) from job_schedules where error is not null`)).count;
