create table jobs (
  id bigint generated always as identity primary key,
  kind text not null,
  payload jsonb not null default '{}',
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed')),
  run_at timestamptz not null default now(),
  attempts int not null default 0,
  max_attempts int not null,
  -- A worker renews its lease while it works; a job whose lease has run out may be taken over.
  lease_until timestamptz,
  lease_token uuid,
  last_error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);

create index jobs_waiting on jobs (run_at, id) where state = 'waiting';
create index jobs_running on jobs (lease_until) where state = 'running';
create index jobs_finished on jobs (finished_at) where state in ('done', 'failed');

create function notify_jobs() returns trigger language plpgsql as $$
begin
  notify oriel_jobs;
  return null;
end $$;

create trigger jobs_enqueued after insert on jobs
  for each statement execute function notify_jobs();

-- When each schedule last put a job into the queue. Its row is locked for that, so that one of many servers does.
create table job_schedules (
  name text primary key,
  last_tick timestamptz not null
);
