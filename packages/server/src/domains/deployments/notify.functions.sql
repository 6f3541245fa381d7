create or replace trigger deployments_deleted after delete on deployments
  for each row execute function notify_credentials('deployment:', 'id');
