create or replace trigger users_changed
  after delete or update of username, email, first_name, title, picture, external_id, is_deactivated, notifications, last_login on users
  for each row when (old.embed_tenant is null) execute function notify_credentials('user:', 'id');
create or replace trigger user_settings_changed
  after update of settings, tos_accepted on users
  for each row when (old.embed_tenant is null) execute function notify_credentials('user:', 'id');

-- For tables with a column `user_id` that say what a user may do or see. A change of more than a hundred users is sent as
-- one notification: for everything that is cached, or for viewers if all of the users are external. Servers have nothing
-- in memory about the user whom this transaction made, as minting does, nor about users of deleted embed tenants.
create or replace function notify_rights_of_users() returns trigger language plpgsql as $$
declare
  ids bigint[];
begin
  ids := array(
    select distinct c.user_id from changed c join users u on u.id = c.user_id
    where coalesce(u.embed_tenant, '') not like '~%'
      and u.id is distinct from nullif(current_setting('oriel.new_user', true), '')::bigint
    limit 101);
  if cardinality(ids) <= 100 then
    perform tell_servers('user:' || id) from unnest(ids) as id;
  elsif exists (select from changed c join users u on u.id = c.user_id where u.embed_tenant is null) then
    perform tell_servers('');
  else
    perform tell_servers('viewers');
  end if;
  return null;
end $$;
create or replace trigger user_roles_added after insert on user_roles
  referencing new table as changed for each statement execute function notify_rights_of_users();
create or replace trigger user_roles_removed after delete on user_roles
  referencing old table as changed for each statement execute function notify_rights_of_users();
create or replace trigger user_roles_replaced after update on user_roles
  for each statement execute function notify_credentials();
