-- What may be large is deleted in two steps: the request takes it out of every reader's sight, and a job removes its
-- rows in batches. See docs/decisions/0009-removals.md.

-- Deployments. The row goes at once, and what was in it is removed later, so nothing cascades from it. New content
-- still needs its deployment, as a foreign key would say, and an owner who was not deleted.
alter table folders drop constraint folders_deployment_id_fkey;
alter table workbooks drop constraint workbooks_deployment_id_fkey;
alter table reports drop constraint reports_deployment_id_fkey;
alter table resource_policies drop constraint resource_policies_deployment_id_fkey;

alter table users
  add column deleted_at timestamptz,
  -- Who gets what the deleted user owned. They stay until all of it is theirs.
  add column heir_id bigint references users;
create index users_by_heir on users (heir_id) where heir_id is not null;
drop index users_username_key, users_email_key;
create unique index users_username_key on users (username) where embed_tenant is null and deleted_at is null;
create unique index users_email_key on users (lower(email)) where embed_tenant is null and deleted_at is null;

-- The locks are those of a foreign key: whoever deletes one of them waits for who refers to it, and the other way round.
create function require_deployment() returns trigger language plpgsql as $$
declare
  missing bigint;
begin
  perform from deployments where id in (select deployment_id from new_rows) for key share;
  select n.deployment_id into missing from new_rows n
  where not exists (select from deployments d where d.id = n.deployment_id) limit 1;
  if missing is not null then
    raise exception 'there is no deployment %', missing
      using errcode = 'foreign_key_violation', constraint = tg_table_name || '_deployment_id_fkey', table = tg_table_name;
  end if;
  return null;
end $$;

create function require_owner() returns trigger language plpgsql as $$
declare
  deleted bigint;
begin
  select max(u.id) filter (where u.deleted_at is not null) into deleted from (
    select id, deleted_at from users where id in (select user_id from new_rows) for key share) u;
  if deleted is not null then
    raise exception 'the user % was deleted', deleted
      using errcode = 'foreign_key_violation', constraint = tg_table_name || '_user_id_fkey', table = tg_table_name,
            detail = format('Key (user_id)=(%s) is not present.', deleted);
  end if;
  return null;
end $$;

create trigger folders_need_deployment after insert on folders
  referencing new table as new_rows for each statement execute function require_deployment();
create trigger workbooks_need_deployment after insert on workbooks
  referencing new table as new_rows for each statement execute function require_deployment();
create trigger reports_need_deployment after insert on reports
  referencing new table as new_rows for each statement execute function require_deployment();
create trigger resource_policies_need_deployment after insert on resource_policies
  referencing new table as new_rows for each statement execute function require_deployment();
create trigger folders_need_owner after insert on folders
  referencing new table as new_rows for each statement execute function require_owner();
create trigger workbooks_need_owner after insert on workbooks
  referencing new table as new_rows for each statement execute function require_owner();
create trigger reports_need_owner after insert on reports
  referencing new table as new_rows for each statement execute function require_owner();

-- Sessions of a deployment that is gone can not be exchanged; a job removes them.
create function end_deployment() returns trigger language plpgsql as $$
begin
  delete from resource_policies where resource_type = 'Deployment' and resource_id = old.id;
  insert into embed_revocations (deployment_id) values (old.id);
  return null;
end $$;
drop trigger deployments_deleted_revoke on deployments;
create trigger deployments_deleted_revoke after delete on deployments
  for each row execute function end_deployment();

-- Folders that are being removed. With `keeps_content`, what lies in the folder returns to the root; else it goes too.
create table removed_folders (
  folder_id bigint primary key references folders on delete cascade,
  -- The folder that was deleted; the others were below it.
  root_id bigint not null,
  depth int not null,
  keeps_content boolean not null
);
create index removed_folders_by_root on removed_folders (root_id, depth desc, folder_id);

-- Embed tenants. One that is deleted gives up its name at once: it is kept under a name that nobody can ask for, and its
-- users, groups and attributes with it, until all is removed. Content is too much to be renamed. It belongs to the
-- `content_key` of a tenant: the name, unless content of another tenant that had the name is still there.
alter table embed_tenants
  add column content_key text,
  add column deleted_at timestamptz;
update embed_tenants set content_key = name;
alter table embed_tenants alter column content_key set not null;
-- Not unique: that follows from the name, and two calls that make a tenant at once meet there.
create index embed_tenants_by_content_key on embed_tenants (content_key);
create index embed_tenants_removed on embed_tenants (content_key) where deleted_at is not null;

create function set_content_key() returns trigger language plpgsql as $$
begin
  new.content_key := case
    when exists (select from embed_tenants where content_key = new.name) then new.name || '~' || new.id
    else new.name end;
  return new;
end $$;
create trigger embed_tenants_content_key before insert on embed_tenants
  for each row execute function set_content_key();

-- What content of the embed tenant with this name belongs to. Null where it was deleted and its content is still there.
create function content_key_of(tenant text) returns text language sql stable as $$
  select coalesce(
    (select content_key from embed_tenants where name = tenant and deleted_at is null),
    (select tenant where not exists (select from embed_tenants where content_key = tenant)))
$$;

alter table users drop constraint users_embed_tenant_fkey,
  add constraint users_embed_tenant_fkey foreign key (embed_tenant) references embed_tenants (name) on update cascade;
alter table user_groups drop constraint user_groups_embed_tenant_fkey,
  add constraint user_groups_embed_tenant_fkey foreign key (embed_tenant) references embed_tenants (name) on update cascade;
alter table user_attributes drop constraint user_attributes_embed_tenant_fkey,
  add constraint user_attributes_embed_tenant_fkey foreign key (embed_tenant) references embed_tenants (name) on update cascade;

-- Users of deleted tenants do not count, and their tokens ended with the tenant.
create or replace function count_external_users() returns trigger language plpgsql as $$
declare
  difference bigint;
begin
  select count(*) into difference from changed where embed_tenant not like '~%';
  if difference > 0 then
    update external_user_count
    set count = count + case when tg_op = 'INSERT' then difference else -difference end
    where singleton;
  end if;
  return null;
end $$;

drop trigger users_deleted on users;
create trigger users_deleted after delete on users
  for each row when (old.deleted_at is null and (old.embed_tenant is null or old.embed_tenant not like '~%'))
  execute function revoke_embed_sessions_of_deleted();
drop trigger embed_tenants_deleted on embed_tenants;
create trigger embed_tenants_deleted after delete on embed_tenants
  for each row when (old.deleted_at is null) execute function revoke_embed_sessions_of_deleted();
