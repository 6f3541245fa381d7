-- Queries use the last good build, and servers remember which one that is.
create or replace trigger builds_succeeded after update of status on builds
  for each row when (new.status = 'built' and old.status <> 'built')
  execute function notify_credentials('deployment:', 'deployment_id');
