create or replace trigger roles_changed
  after delete or update of actions on roles
  for each statement execute function notify_credentials();
