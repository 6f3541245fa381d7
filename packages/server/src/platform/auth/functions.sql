-- Tells every server whom or what a change concerns, so that it forgets what it keeps in memory of them.
-- An empty text concerns everybody.
create or replace function notify_credentials() returns trigger language plpgsql as $$
declare
  subject text := '';
  changed record;
begin
  if tg_table_name = 'tenant_settings' then
    subject := 'tenant-settings';
  elsif tg_table_name = 'signing_keys' then
    subject := 'signing-keys';
  elsif tg_level = 'ROW' then
    if tg_op = 'DELETE' then changed := old; else changed := new; end if;
    case tg_table_name
      when 'users' then subject := 'user:' || changed.id;
      when 'api_keys' then subject := 'key:' || changed.id;
      when 'deployments' then subject := 'deployment:' || changed.id;
      -- What is given to a group or a role concerns everybody in it.
      when 'resource_policies' then subject := coalesce('user:' || changed.user_id, '');
      else subject := '';
    end case;
  end if;
  perform pg_notify('oriel_credentials', subject);
  return null;
end $$;
create or replace trigger api_keys_changed
  after delete or update of user_id, key_hash, deployment_ids, expires_at on api_keys
  for each row execute function notify_credentials();
create or replace trigger users_changed
  after delete or update of username, email, first_name, title, picture, external_id, is_deactivated, notifications on users
  for each row when (old.embed_tenant is null) execute function notify_credentials();
create or replace trigger roles_changed
  after delete or update of actions on roles
  for each statement execute function notify_credentials();
create or replace trigger user_settings_changed
  after update of settings, tos_accepted on users
  for each row when (old.embed_tenant is null) execute function notify_credentials();
create or replace trigger deployments_deleted after delete on deployments
  for each row execute function notify_credentials();
create or replace trigger deployment_policies_set
  after insert or update on resource_policies
  for each row when (new.resource_type = 'Deployment') execute function notify_credentials();
create or replace trigger deployment_policies_cleared
  after delete on resource_policies
  for each row when (old.resource_type = 'Deployment') execute function notify_credentials();
create or replace trigger tenant_settings_changed after update on tenant_settings
  for each statement execute function notify_credentials();
create or replace trigger signing_keys_changed after insert or delete on signing_keys
  for each statement execute function notify_credentials();
create or replace trigger user_roles_replaced after update on user_roles
  for each statement execute function notify_credentials();

-- For tables of what users have. A change of more than a hundred users is told as a change of everybody.
create or replace function notify_credentials_of_people() returns trigger language plpgsql as $$
declare
  people bigint[];
begin
  people := array(
    select distinct c.user_id from changed c join users u on u.id = c.user_id where u.embed_tenant is null limit 101);
  if cardinality(people) > 100 then
    perform pg_notify('oriel_credentials', '');
  else
    perform pg_notify('oriel_credentials', 'user:' || id) from unnest(people) as id;
  end if;
  return null;
end $$;
create or replace trigger user_group_members_added after insert on user_group_members
  referencing new table as changed for each statement execute function notify_credentials_of_people();
create or replace trigger user_group_members_removed after delete on user_group_members
  referencing old table as changed for each statement execute function notify_credentials_of_people();
create or replace trigger user_roles_added after insert on user_roles
  referencing new table as changed for each statement execute function notify_credentials_of_people();
create or replace trigger user_roles_removed after delete on user_roles
  referencing old table as changed for each statement execute function notify_credentials_of_people();
