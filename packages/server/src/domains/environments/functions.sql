-- A new password, a deactivation and a deletion end all tokens that the user made, whoever causes them.
create or replace function end_environment_tokens_of_user() returns trigger language plpgsql as $$
begin
  delete from environment_tokens where user_id = new.id;
  return null;
end $$;
create or replace trigger users_end_environment_tokens after update of password_hash, is_deactivated on users
  for each row when (ends_access(old.password_hash, new.password_hash, old.is_deactivated, new.is_deactivated))
  execute function end_environment_tokens_of_user();

-- One notification for each creator, because many tokens may end at once. New tokens send none, because no server has
-- them in memory yet, and expired ones are in no memory any more.
create or replace function notify_environment_tokens() returns trigger language plpgsql as $$
begin
  perform tell_servers('user:' || user_id)
  from (select distinct user_id from gone where expires_at > now()) as ended;
  return null;
end $$;
create or replace trigger environment_tokens_ended after delete on environment_tokens
  referencing old table as gone for each statement execute function notify_environment_tokens();

-- The tokens of an environment end with its branch.
create or replace function end_environment_tokens_of_branches() returns trigger language plpgsql as $$
begin
  delete from environment_tokens t using gone g where t.deployment_id = g.deployment_id and t.branch_id = g.id;
  return null;
end $$;
create or replace trigger branches_end_environment_tokens after delete on branches
  referencing old table as gone for each statement execute function end_environment_tokens_of_branches();
