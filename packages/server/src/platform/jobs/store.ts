import type { Queryable, Tx } from '../db/database.ts';
import { json, sql } from '../db/sql.ts';

export interface JobRow {
  id: number;
  kind: string;
  payload: object;
  attempts: number;
  maxAttempts: number;
}

export const insertJob = (
  tx: Tx,
  job: { kind: string; payload: object; runAt: string | null; maxAttempts: number },
) =>
  tx.one<{ id: number }>(sql`
    insert into jobs (kind, payload, run_at, max_attempts)
    values (${job.kind}, ${json(job.payload)}, coalesce(${job.runAt}::timestamptz, now()), ${job.maxAttempts})
    returning id`);

/** Takes the job that has been due for longest, unless another worker is just taking it. */
export const claimJob = (db: Queryable, kinds: string[], leaseToken: string, leaseMs: number) =>
  db.maybeOne<JobRow>(sql`
    update jobs set state = 'running', attempts = attempts + 1,
      lease_token = ${leaseToken}, lease_until = now() + ${leaseMs} * interval '1 ms'
    where id = (
      select id from jobs where state = 'waiting' and run_at <= now() and kind = any(${kinds})
      order by run_at, id limit 1 for update skip locked)
    returning id, kind, payload, attempts, max_attempts as "maxAttempts"`);

/** Tells whether the lease was still ours to renew. */
export const renewLease = async (db: Queryable, id: number, leaseToken: string, leaseMs: number) =>
  (await db.run(sql`
    update jobs set lease_until = now() + ${leaseMs} * interval '1 ms'
    where id = ${id} and lease_token = ${leaseToken}`)) === 1;

export const finishJob = (db: Queryable, id: number, leaseToken: string) =>
  db.run(sql`
    update jobs set state = 'done', finished_at = now(), lease_token = null, lease_until = null, last_error = null
    where id = ${id} and lease_token = ${leaseToken}`);

/** The others that are due come first. */
export const resumeLater = (db: Queryable, id: number, leaseToken: string) =>
  db.run(sql`
    update jobs set state = 'waiting', run_at = now(), attempts = 0, lease_token = null, lease_until = null, last_error = null
    where id = ${id} and lease_token = ${leaseToken}`);

export const retryJob = (db: Queryable, id: number, leaseToken: string, error: string, delayMs: number) =>
  db.run(sql`
    update jobs set state = 'waiting', run_at = now() + ${delayMs} * interval '1 ms',
      lease_token = null, lease_until = null, last_error = ${error}
    where id = ${id} and lease_token = ${leaseToken}`);

export const failJob = (db: Queryable, id: number, leaseToken: string, error: string) =>
  db.run(sql`
    update jobs set state = 'failed', finished_at = now(), lease_token = null, lease_until = null, last_error = ${error}
    where id = ${id} and lease_token = ${leaseToken}`);

/** Puts jobs back whose worker stopped renewing: it died, or can not reach the database. */
export const releaseAbandonedJobs = (db: Queryable) =>
  db.run(sql`
    update jobs set lease_token = null, lease_until = null, last_error = 'the worker disappeared',
      state = case when attempts < max_attempts then 'waiting' else 'failed' end,
      finished_at = case when attempts < max_attempts then null else now() end
    where state = 'running' and lease_until < now()`);

export const deleteFinishedJobs = (db: Queryable, olderThanDays: number) =>
  db.run(sql`
    delete from jobs where state in ('done', 'failed') and finished_at < now() - ${olderThanDays} * interval '24 hours'`);

export const countJobs = async (db: Queryable, state: 'waiting' | 'failed') =>
  (await db.one<{ count: number }>(sql`select count(*) from jobs where state = ${state}`)).count;

/** A schedule that nobody knew yet begins to count now. */
export const insertSchedule = (db: Queryable, name: string) =>
  db.run(sql`insert into job_schedules (name, last_tick) values (${name}, now()) on conflict do nothing`);

/** Locks the schedule's row until the end of the transaction. */
export const lockSchedule = (tx: Tx, name: string) =>
  tx.one<{ lastTick: string; now: string }>(sql`
    select last_tick as "lastTick", clock_timestamp() as now from job_schedules where name = ${name} for update`);

export const updateSchedule = (tx: Tx, name: string, lastTick: string) =>
  tx.run(sql`update job_schedules set last_tick = ${lastTick} where name = ${name}`);
