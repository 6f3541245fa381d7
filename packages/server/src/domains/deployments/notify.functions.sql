create or replace trigger deployments_deleted after delete on deployments
  for each row execute function notify_credentials('deployment:', 'id');
create or replace trigger deploy_branch_changed after update of deploy_branch_name on deployments
  for each row when (new.deploy_branch_name <> old.deploy_branch_name)
  execute function notify_credentials('deployment:', 'id');
