-- Users of deleted embed tenants do not count.
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
create or replace trigger external_users_counted_in after insert on users
  referencing new table as changed for each statement execute function count_external_users();
create or replace trigger external_users_counted_out after delete on users
  referencing old table as changed for each statement execute function count_external_users();

-- New content needs an owner who was not deleted. The lock is the one that a foreign key takes: a transaction that
-- deletes the user and a transaction that gives content to the user wait for each other.
create or replace function require_owner() returns trigger language plpgsql as $$
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
create or replace trigger folders_need_owner after insert on folders
  referencing new table as new_rows for each statement execute function require_owner();
create or replace trigger workbooks_need_owner after insert on workbooks
  referencing new table as new_rows for each statement execute function require_owner();
create or replace trigger reports_need_owner after insert on reports
  referencing new table as new_rows for each statement execute function require_owner();

-- True if a change of a user ends what gives access as this user. Other domains delete it, in triggers with this condition.
create or replace function ends_access(old_hash text, new_hash text, was_deactivated boolean, is_deactivated boolean)
returns boolean language sql immutable as $$
  select new_hash is distinct from old_hash or (is_deactivated and not was_deactivated)
$$;
