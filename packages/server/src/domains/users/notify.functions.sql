create or replace trigger users_changed
  after delete or update of username, email, first_name, title, picture, external_id, is_deactivated, notifications, last_login on users
  for each row when (old.embed_tenant is null) execute function notify_credentials('user:', 'id');
create or replace trigger user_settings_changed
  after update of settings, tos_accepted on users
  for each row when (old.embed_tenant is null) execute function notify_credentials('user:', 'id');

-- For tables with a column `user_id`. A change of more than a hundred users is sent as one notification for all users.
create or replace function notify_credentials_of_people() returns trigger language plpgsql as $$
declare
  people bigint[];
begin
  people := array(
    select distinct c.user_id from changed c join users u on u.id = c.user_id where u.embed_tenant is null limit 101);
  if cardinality(people) > 100 then
    perform tell_servers('');
  else
    perform tell_servers('user:' || id) from unnest(people) as id;
  end if;
  return null;
end $$;
create or replace trigger user_roles_added after insert on user_roles
  referencing new table as changed for each statement execute function notify_credentials_of_people();
create or replace trigger user_roles_removed after delete on user_roles
  referencing old table as changed for each statement execute function notify_credentials_of_people();
create or replace trigger user_roles_replaced after update on user_roles
  for each statement execute function notify_credentials();
