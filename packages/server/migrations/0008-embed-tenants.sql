create table embed_tenants (
  id bigint generated always as identity primary key,
  name text not null unique,
  display_name text,
  created_at timestamptz not null default now()
);

-- External viewers are users as well: they are in groups, hold attribute values and own content. They belong to an
-- embed tenant, are known there by their external id, and have neither roles nor keys nor a password.
alter table users
  alter column email drop not null,
  add column embed_tenant text references embed_tenants (name),
  add constraint users_kind_check
    check (case when embed_tenant is null then email is not null else external_id is not null end);
alter table users
  add column shown_email text not null
    generated always as (coalesce(email, external_id || '@' || embed_tenant || '.embed.invalid')) stored;

drop index users_username_key, users_email_key;
create unique index users_username_key on users (username) where embed_tenant is null;
create unique index users_email_key on users (lower(email)) where embed_tenant is null;
create unique index users_external_id_key on users (embed_tenant, external_id) where embed_tenant is not null;
create index users_of_tenant on users (embed_tenant, id) where embed_tenant is not null;

-- Credentials are those of people. External viewers change too often to empty everybody's memory each time.
drop trigger users_changed on users;
create trigger users_changed
  after delete or update of username, email, first_name, title, picture, external_id, is_deactivated, notifications on users
  for each row when (old.embed_tenant is null) execute function notify_credentials();

-- How many external users there are, to be read under a lock: their number is limited.
create table external_user_count (
  singleton boolean primary key default true check (singleton),
  count bigint not null
);
insert into external_user_count (count) values (0);

create function count_external_users() returns trigger language plpgsql as $$
declare
  difference bigint;
begin
  select count(*) into difference from changed where embed_tenant is not null;
  if difference > 0 then
    update external_user_count
    set count = count + case when tg_op = 'INSERT' then difference else -difference end
    where singleton;
  end if;
  return null;
end $$;

create trigger external_users_counted_in after insert on users
  referencing new table as changed for each statement execute function count_external_users();
create trigger external_users_counted_out after delete on users
  referencing old table as changed for each statement execute function count_external_users();

-- Three catalogues of groups: the account's own (no embed tenant), and of each embed tenant two that do not mix.
alter table user_groups
  drop constraint user_groups_name_key,
  add column embed_tenant text references embed_tenants (name),
  add column namespace text not null default 'groups' check (namespace in ('groups', 'tenantGroups'));
create unique index user_groups_name_key on user_groups (coalesce(embed_tenant, ''), namespace, name);

create function notify_credentials_of_people() returns trigger language plpgsql as $$
begin
  if exists (select from changed c join users u on u.id = c.user_id where u.embed_tenant is null) then
    notify oriel_credentials;
  end if;
  return null;
end $$;

drop trigger user_group_members_changed on user_group_members;
create trigger user_group_members_added after insert on user_group_members
  referencing new table as changed for each statement execute function notify_credentials_of_people();
create trigger user_group_members_removed after delete on user_group_members
  referencing old table as changed for each statement execute function notify_credentials_of_people();

-- Attributes of users, for row-level security: the account's own (no embed tenant) and those of each embed tenant.
create table user_attributes (
  id bigint generated always as identity primary key,
  embed_tenant text references embed_tenants (name),
  name text not null,
  type text not null check (type in ('string', 'number', 'boolean', 'string_array', 'number_array')),
  display_name text,
  -- Text for a string, JSON for the others.
  default_value text,
  description text,
  created_at timestamptz not null default now()
);
create unique index user_attributes_name_key on user_attributes (coalesce(embed_tenant, ''), name);

create table user_attribute_values (
  user_id bigint not null references users on delete cascade,
  attribute_id bigint not null references user_attributes on delete cascade,
  value jsonb not null,
  primary key (user_id, attribute_id)
);
create index user_attribute_values_of_attribute on user_attribute_values (attribute_id);

create table tenant_settings (
  singleton boolean primary key default true check (singleton),
  use_creator_mode boolean not null default false,
  embed_allowed_origins text[] not null default '{}',
  audit_log_retention_days integer check (audit_log_retention_days > 0),
  has_support_access boolean not null default false,
  maintenance_window_enabled boolean not null default false,
  maintenance_window_day text not null default 'Sunday',
  maintenance_window_time text not null default '03:00',
  oidc_enabled boolean not null default false,
  use_aibi_user_interface boolean not null default true,
  -- App configuration: what every embedded page starts from.
  embedding jsonb not null default '{}'
);
insert into tenant_settings default values;

-- Servers keep the settings in memory.
create trigger tenant_settings_changed after update on tenant_settings
  for each statement execute function notify_credentials();

-- Deleting an embed tenant deletes its users, and each of them is looked for here.
create index folders_by_creator on folders (created_by);
create index folders_by_updater on folders (updated_by);
create index workbooks_by_creator on workbooks (created_by);
create index reports_by_creator on reports (created_by);
create index reports_by_refresher on reports (refreshed_by) where refreshed_by is not null;
create index folders_of_tenant on folders (embed_tenant) where embed_tenant is not null;
create index workbooks_of_tenant on workbooks (embed_tenant) where embed_tenant is not null;
create index reports_by_tenant on reports (embed_tenant) where embed_tenant is not null;
