-- A policy for a group or a role has no user, so its notification is for all users.
create or replace trigger deployment_policies_set
  after insert or update on resource_policies
  for each row when (new.resource_type = 'Deployment') execute function notify_credentials('user:', 'user_id');
create or replace trigger deployment_policies_cleared
  after delete on resource_policies
  for each row when (old.resource_type = 'Deployment') execute function notify_credentials('user:', 'user_id');
