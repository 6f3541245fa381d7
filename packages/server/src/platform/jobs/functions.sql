-- Wakes the workers of every server.
create or replace function notify_jobs() returns trigger language plpgsql as $$
begin
  notify oriel_jobs;
  return null;
end $$;
create or replace trigger jobs_enqueued after insert on jobs
  for each statement execute function notify_jobs();
