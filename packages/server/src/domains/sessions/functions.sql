-- A new password, a deactivation and a deletion end all sessions of the user, whoever causes them.
create or replace function end_sessions_of_user() returns trigger language plpgsql as $$
begin
  delete from sessions where user_id = new.id;
  return null;
end $$;
create or replace trigger users_end_sessions after update of password_hash, is_deactivated on users
  for each row when (ends_access(old.password_hash, new.password_hash, old.is_deactivated, new.is_deactivated))
  execute function end_sessions_of_user();

-- New tokens send no notification, because no server has them in memory yet. Expired ones are in no memory any more.
create or replace trigger session_tokens_ended after delete on session_tokens
  for each row when (old.expires_at > now()) execute function notify_credentials('session:', 'session_id');
