-- Notifications say whom or what they concern, so that servers forget that and nothing else: `user:12`, `key:5`,
-- `deployment:3`, `tenant-settings`, `signing-keys`. An empty one concerns everything that is remembered.

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

-- For tables that say what users have. The change of many at once is told as a change of all.
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

drop trigger if exists api_keys_changed on api_keys;
create trigger api_keys_changed
  after delete or update of user_id, key_hash, deployment_ids, expires_at on api_keys
  for each row execute function notify_credentials();

drop trigger if exists user_settings_changed on users;
create trigger user_settings_changed
  after update of settings, tos_accepted on users
  for each row when (old.embed_tenant is null) execute function notify_credentials();

drop trigger if exists deployments_deleted on deployments;
create trigger deployments_deleted after delete on deployments
  for each row execute function notify_credentials();

drop trigger if exists user_roles_changed on user_roles;
create trigger user_roles_added after insert on user_roles
  referencing new table as changed for each statement execute function notify_credentials_of_people();
create trigger user_roles_removed after delete on user_roles
  referencing old table as changed for each statement execute function notify_credentials_of_people();
create trigger user_roles_replaced after update on user_roles
  for each statement execute function notify_credentials();
