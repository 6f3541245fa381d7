-- Each kind of job names a lane, and each lane runs so many jobs at once. So long jobs of one lane do not hold up another.
alter table jobs
  add column lane text not null default 'default',
  -- The worker that runs the job. A worker that is started again in place of one that died releases its jobs at once.
  add column worker_id uuid,
  -- What the job last told of itself: done, and maybe total and message.
  add column progress jsonb;
update jobs set lane = 'removals'
where state = 'waiting' and (kind like '%.remove' or kind = 'folders.empty');

drop index jobs_waiting;
create index jobs_waiting on jobs (lane, run_at, id) where state = 'waiting';
create index jobs_failed on jobs (lane) where state = 'failed';

-- Also jobs that return to the queue wake the workers: a job of a server that stops is taken by another one.
create trigger jobs_returned after update of state on jobs
  for each row when (new.state = 'waiting') execute function notify_jobs();

-- One table for what the server does by the clock and for what users ask for, such as a report each Monday. A schedule
-- that is due is locked, its job is put into the queue and its next time is set, in one transaction.
drop table job_schedules;
create table job_schedules (
  name text primary key,
  kind text not null,
  payload jsonb not null default '{}',
  cron text,
  every_seconds int check (every_seconds > 0),
  time_zone text not null default 'UTC',
  -- Null if it never comes again: its pattern has no more times, or `error` says what is wrong with it.
  next_run_at timestamptz,
  error text,
  -- The schedule goes with its owner.
  deployment_id bigint references deployments on delete cascade,
  user_id bigint references users on delete cascade,
  constraint job_schedules_pattern check (num_nonnulls(cron, every_seconds) = 1)
);
create index job_schedules_due on job_schedules (next_run_at) where next_run_at is not null;
create index job_schedules_by_deployment on job_schedules (deployment_id) where deployment_id is not null;
create index job_schedules_by_user on job_schedules (user_id) where user_id is not null;

create trigger job_schedules_changed after insert or update of next_run_at on job_schedules
  for each statement execute function notify_jobs();
