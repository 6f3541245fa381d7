-- Wakes the workers of every server.
create or replace function notify_jobs() returns trigger language plpgsql as $$
begin
  notify oriel_jobs;
  return null;
end $$;
create or replace trigger jobs_enqueued after insert on jobs
  for each statement execute function notify_jobs();
-- Workers also wake for jobs that return to the queue: another server takes the jobs of a server that stops.
-- A lease that becomes shorter must be noticed too.
create or replace trigger jobs_returned after update of state, lease_until on jobs
  for each row when (new.state = 'waiting' or new.lease_until < old.lease_until) execute function notify_jobs();
create or replace trigger job_schedules_changed after insert or update of next_run_at on job_schedules
  for each statement execute function notify_jobs();
