create or replace trigger roles_changed
  after delete or update of name, actions on roles
  for each statement execute function notify_credentials();
