-- Servers remember the data sources that the variables of a deployment describe.
create or replace trigger env_variables_set after insert or update on env_variables
  for each row execute function notify_credentials('deployment:', 'deployment_id');
create or replace trigger env_variables_deleted after delete on env_variables
  for each row execute function notify_credentials('deployment:', 'deployment_id');
