import type { Queryable, Tx } from '../db/database.ts';
import { json, sql } from '../db/sql.ts';

export interface NewJob {
  kind: string;
  lane: string;
  payload: object;
  /** Null means now. */
  runAt: string | null;
  maxAttempts: number;
  /** The name of the schedule that it comes from. */
  schedule: string | null;
}

export interface JobRow {
  id: number;
  kind: string;
  payload: object;
  attempts: number;
  maxAttempts: number;
}

export interface JobProgress {
  done: number;
  total?: number;
  message?: string;
}

/** Says which worker holds a job, and for how long. */
export interface Lease {
  /** New for each run, so that a run that lost its job cannot finish it. */
  token: string;
  workerId: string;
  leaseMs: number;
}

const NO_LEASE = sql`lease_token = null, lease_until = null, worker_id = null`;

/** The condition of the index `jobs_one_of_a_schedule`, so that the index is used. */
const OF_SCHEDULE_UNFINISHED = sql`schedule is not null and state in ('waiting', 'running')`;

/** True for a row `s` of a schedule whose last job has ended. */
export const LAST_JOB_HAS_ENDED = sql`
  not exists (select from jobs j where j.schedule = s.name and ${OF_SCHEDULE_UNFINISHED})`;

/**
 * Returns the ids in the order of `jobs`. Leaves out a job of a schedule that has an unfinished job: another server has
 * just added it.
 */
export const insertJobs = (tx: Tx, jobs: NewJob[]) =>
  tx.many<{ id: number }>(sql`
    insert into jobs (kind, lane, payload, run_at, max_attempts, schedule)
    select kind, lane, payload, coalesce("runAt", now()), "maxAttempts", schedule
    from json_to_recordset(${json(jobs)})
      as n (kind text, lane text, payload jsonb, "runAt" timestamptz, "maxAttempts" int, schedule text)
    on conflict (schedule) where ${OF_SCHEDULE_UNFINISHED} do nothing
    returning id`);

const isDue = (lane: string, kinds: string[]) => sql`
  j.state = 'waiting' and j.lane = ${lane} and j.run_at <= now() and j.kind = any(${kinds})`;

/** The job of the lane that has been due for longest. */
const oldest = (lane: string, kinds: string[]) => sql`
  select j.id from jobs j where ${isDue(lane, kinds)} order by j.run_at, j.id limit 1 for update skip locked`;

const SHARER = sql`coalesce(j.payload ->> 'sharer', '')`;

/**
 * Round-robin: a job of the deployment that was served longest ago, and within it of the sharer served longest ago. Skips
 * deployments of which a job runs.
 */
const inTurn = (lane: string, kinds: string[], served: readonly string[]) => sql`
  with due as materialized (
    select j.payload ->> 'deploymentId' as deployment, ${SHARER} as sharer, min(j.run_at) as run_at,
      min(j.id) as id
    from jobs j where ${isDue(lane, kinds)} group by 1, 2)
  select first.id
  from (
    select deployment, sharer from due
    where not exists (
      select from jobs r where r.state = 'running' and r.lane = ${lane} and r.payload ->> 'deploymentId' = deployment)
    order by coalesce(array_position(${served}::text[], deployment), 0),
      coalesce(array_position(${served}::text[], deployment || ' ' || sharer), 0), run_at, id) turns
  cross join lateral (
    select j.id from jobs j
    where ${isDue(lane, kinds)} and j.payload ->> 'deploymentId' is not distinct from turns.deployment
      and ${SHARER} = turns.sharer
    order by j.run_at, j.id limit 1 for update skip locked) first
  limit 1`;

/**
 * Takes a job of the lane that is due. Skips jobs that another worker is just taking. With `served`, deployments take
 * turns, and in each of them the sharers of the payloads: it lists the names of `turnsOf` that had a turn, the latest
 * last. The statement reads all due jobs of such a lane, so there must not be very many.
 */
export const claimJob = (
  db: Queryable,
  lane: string,
  kinds: string[],
  lease: Lease,
  served?: readonly string[],
) =>
  db.maybeOne<JobRow>(sql`
    update jobs set state = 'running', attempts = attempts + 1,
      worker_id = ${lease.workerId}, lease_token = ${lease.token},
      lease_until = now() + ${lease.leaseMs} * interval '1 ms'
    where id = (${served ? inTurn(lane, kinds, served) : oldest(lane, kinds)})
    returning id, kind, payload, attempts, max_attempts as "maxAttempts"`);

/**
 * Does `claimJob` in a fair lane. A lock allows one claim of the lane at a time on all servers: two claims at once
 * would not see each other, and could take two jobs of the same deployment.
 */
export async function claimInTurn(
  tx: Tx,
  lane: string,
  kinds: string[],
  lease: Lease,
  served: readonly string[],
) {
  // A worker that freezes while it holds the lock loses it before others give up waiting.
  await tx.run(sql`set local idle_in_transaction_session_timeout = '2s'`);
  await tx.run(sql`select pg_advisory_xact_lock(hashtextextended(${`claims of ${lane}`}, 0))`);
  return claimJob(tx, lane, kinds, lease, served);
}

/** Returns the names of the deployment and the sharer that get a turn by a job of a fair lane. */
export function turnsOf({ payload }: JobRow): string[] {
  const { deploymentId, sharer } = payload as { deploymentId?: number; sharer?: string | null };
  return deploymentId === undefined ? [] : [`${deploymentId}`, `${deploymentId} ${sharer ?? ''}`];
}

/** Returns whether the lease was still ours. */
export const renewLease = async (db: Queryable, id: number, { token, leaseMs }: Lease) =>
  (await db.run(sql`
    update jobs set lease_until = now() + ${leaseMs} * interval '1 ms'
    where id = ${id} and lease_token = ${token}`)) === 1;

export const updateProgress = (db: Queryable, id: number, { token }: Lease, progress: JobProgress) =>
  db.run(sql`
    update jobs set progress = ${json(progress)} where id = ${id} and lease_token = ${token}`);

export const finishJob = (db: Queryable, id: number, { token }: Lease) =>
  db.run(sql`
    update jobs set state = 'done', finished_at = now(), last_error = null, ${NO_LEASE}
    where id = ${id} and lease_token = ${token}`);

/** Returns the job to the queue, behind the other jobs that are due. */
export const requeueUnfinishedJob = (db: Queryable, id: number, { token }: Lease) =>
  db.run(sql`
    update jobs set state = 'waiting', run_at = now(), attempts = 0, last_error = null, ${NO_LEASE}
    where id = ${id} and lease_token = ${token}`);

/** Returns the job to the queue without counting the attempt, because the worker stops and the job did not fail. */
export const releaseJob = (db: Queryable, id: number, { token }: Lease) =>
  db.run(sql`
    update jobs set state = 'waiting', attempts = attempts - 1, ${NO_LEASE}
    where id = ${id} and lease_token = ${token}`);

/**
 * Keeps the lease of a job that goes on although its worker stops. No other worker gets the job until the lease has
 * expired, and the process of the worker is gone by then. The attempt does not count.
 */
export const leaveJob = (db: Queryable, id: number, { token }: Lease, forMs: number) =>
  db.run(sql`
    update jobs set attempts = attempts - 1, lease_until = now() + ${forMs} * interval '1 ms'
    where id = ${id} and lease_token = ${token}`);

export const retryJob = (db: Queryable, id: number, { token }: Lease, error: string, delayMs: number) =>
  db.run(sql`
    update jobs set state = 'waiting', run_at = now() + ${delayMs} * interval '1 ms', last_error = ${error}, ${NO_LEASE}
    where id = ${id} and lease_token = ${token}`);

export const failJob = (db: Queryable, id: number, { token }: Lease, error: string) =>
  db.run(sql`
    update jobs set state = 'failed', finished_at = now(), last_error = ${error}, ${NO_LEASE}
    where id = ${id} and lease_token = ${token}`);

/**
 * Returns the jobs of a dead worker to the queue: their lease has expired, or they are jobs of `workerId`, whose
 * process was replaced. The attempt counts, so that a job that kills its worker is given up in the end.
 */
export const requeueExpiredJobs = (db: Queryable, workerId: string | null = null) =>
  db.run(sql`
    update jobs set last_error = 'the worker disappeared',
      state = case when attempts < max_attempts then 'waiting' else 'failed' end,
      finished_at = case when attempts < max_attempts then null else now() end, ${NO_LEASE}
    where id in (
      select id from jobs where state = 'running' and (lease_until < now() or worker_id = ${workerId})
      for update skip locked)`);

/**
 * Ends the jobs whose payload names the deployment. A worker that runs one of them notices when it renews its lease, and
 * cannot finish it.
 */
export const deleteJobsOfDeployment = (tx: Tx, deploymentId: number) =>
  tx.run(sql`
    delete from jobs where payload ->> 'deploymentId' = ${String(deploymentId)} and state in ('waiting', 'running')`);

export const deleteFinishedJobs = (db: Queryable, olderThanDays: number) =>
  db.run(sql`
    delete from jobs where state in ('done', 'failed') and finished_at < now() - ${olderThanDays} * interval '24 hours'`);

export const countJobsByLane = (db: Queryable, state: 'waiting' | 'running' | 'failed') =>
  db.many<{ lane: string; count: number }>(
    sql`select lane, count(*) from jobs where state = ${state} group by lane`,
  );

export interface JobStatus {
  state: 'waiting' | 'running' | 'done' | 'failed';
  attempts: number;
  /** The progress of the current run, or of the last run. */
  progress: JobProgress | null;
  lastError: string | null;
  createdAt: string;
  finishedAt: string | null;
}

/** Returns the progress of a job, until seven days after its end. */
export const findJobProgress = (db: Queryable, id: number) =>
  db.maybeOne<JobStatus>(sql`
    select state, attempts, progress, last_error as "lastError", created_at as "createdAt", finished_at as "finishedAt"
    from jobs where id = ${id}`);

/** In how many milliseconds something is due. Zero or negative if it is due now, null if there is nothing. */
export interface NextDue {
  lanes: { lane: string; inMs: number }[];
  leaseInMs: number | null;
  scheduleInMs: number | null;
}

/** Only reads, so that no lock is taken if nothing is due. */
export const findNextDue = (db: Queryable, lanes: string[], kinds: string[]) =>
  db.one<NextDue>(sql`
    select
      (select coalesce(json_agg(json_build_object(
                'lane', l.lane, 'inMs', extract(epoch from j.run_at - now()) * 1000)), '[]')
       from unnest(${lanes}::text[]) as l (lane)
       cross join lateral (
         select run_at from jobs where state = 'waiting' and lane = l.lane and kind = any(${kinds})
         order by run_at limit 1) j) as lanes,
      (select (extract(epoch from min(lease_until) - now()) * 1000)::float8
       from jobs where state = 'running') as "leaseInMs",
      (select (extract(epoch from next_run_at - now()) * 1000)::float8
       from job_schedules s where next_run_at is not null and kind = any(${kinds}) and ${LAST_JOB_HAS_ENDED}
       order by next_run_at limit 1) as "scheduleInMs"`);

export interface ListedJob {
  id: number;
  kind: string;
  lane: string;
  state: JobStatus['state'];
  deploymentId: number | null;
  schedule: string | null;
  attempts: number;
  maxAttempts: number;
  lastError: string | null;
  done: number | null;
  total: number | null;
  runAt: string;
  createdAt: string;
  finishedAt: string | null;
}

/** The columns of lists. The payload is left out, because it may hold data that only the job may see. */
const LISTED = sql`id, kind, lane, state,
  case when payload ->> 'deploymentId' ~ '^[0-9]{1,15}$' then (payload ->> 'deploymentId')::bigint end as "deploymentId",
  schedule, attempts, max_attempts as "maxAttempts", left(last_error, 2000) as "lastError",
  (progress ->> 'done')::float8 as done, (progress ->> 'total')::float8 as total,
  run_at as "runAt", created_at as "createdAt", finished_at as "finishedAt"`;

export interface JobFilter {
  state: JobStatus['state'] | null;
  kind: string | null;
  deploymentId: number | null;
}

/** Lists jobs, newest first, before this id. */
export const listJobs = (
  db: Queryable,
  { state, kind, deploymentId }: JobFilter,
  page: { beforeId: number | null; limit: number },
) =>
  db.many<ListedJob>(sql`
    select ${LISTED} from jobs
    where (${page.beforeId}::bigint is null or id < ${page.beforeId})
      and (${state}::text is null or state = ${state})
      and (${kind}::text is null or kind = ${kind})
      and (${deploymentId}::bigint is null or payload ->> 'deploymentId' = ${deploymentId}::text)
    order by id desc limit ${page.limit}`);

export const lockJob = (tx: Tx, id: number) =>
  tx.maybeOne<ListedJob>(sql`select ${LISTED} from jobs where id = ${id} for update`);

/** Whether the schedule has another job that waits or runs, so that this one must stay as it is. */
export const hasNewerOfSchedule = async (tx: Tx, id: number, schedule: string) =>
  (
    await tx.one<{ found: boolean }>(sql`
      select exists (
        select from jobs j where j.schedule = ${schedule} and j.id <> ${id} and ${OF_SCHEDULE_UNFINISHED}) as found`)
  ).found;

/** Makes a job due now. One that was given up has all its attempts again. */
export const requeueJob = (tx: Tx, id: number) =>
  tx.one<ListedJob>(sql`
    update jobs set state = 'waiting', run_at = now(), finished_at = null, ${NO_LEASE},
      attempts = case when state = 'failed' then 0 else attempts end
    where id = ${id} returning ${LISTED}`);
