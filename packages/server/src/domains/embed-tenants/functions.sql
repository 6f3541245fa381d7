-- The content key of an embed tenant is its name, unless content of an earlier tenant with that name still exists.
create or replace function set_content_key() returns trigger language plpgsql as $$
begin
  new.content_key := case
    when exists (select from embed_tenants where content_key = new.name) then new.name || '~' || new.id
    else new.name end;
  return new;
end $$;
create or replace trigger embed_tenants_content_key before insert on embed_tenants
  for each row execute function set_content_key();

-- Returns the content key of the embed tenant with this name. Null if the tenant was deleted but its content still
-- exists.
create or replace function content_key_of(tenant text) returns text language sql stable as $$
  select coalesce(
    (select content_key from embed_tenants where name = tenant and deleted_at is null),
    (select tenant where not exists (select from embed_tenants where content_key = tenant)))
$$;

-- Counts the content of each embed tenant, and refuses what would exceed the limit. Additions to one embed tenant take
-- turns until their transaction ends, so that the limit is exact. A deletion that has not ended yet still counts.
create or replace function count_embed_content() returns trigger language plpgsql as $$
declare
  tenant text;
  added bigint;
begin
  if tg_op = 'DELETE' then
    insert into embed_content_counts as c (content_key, slot, count)
    select embed_tenant, pg_backend_pid() % 8, -count(*) from changed
    where embed_tenant is not null and exists (select from embed_tenants t where t.content_key = embed_tenant)
    group by 1 order by 1
    on conflict (content_key, slot) do update set count = c.count + excluded.count;
    return null;
  end if;
  for tenant, added in select embed_tenant, count(*) from changed where embed_tenant is not null group by 1 order by 1 loop
    perform pg_advisory_xact_lock(hashtextextended('content of ' || tenant, 0));
    insert into embed_content_counts as c (content_key, slot, count) values (tenant, pg_backend_pid() % 8, added)
    on conflict (content_key, slot) do update set count = c.count + excluded.count;
    if (select sum(count) from embed_content_counts where content_key = tenant)
       > (select embed_content_limit from tenant_settings) then
      raise exception 'the embed tenant % has as much content as it may have', tenant
        using errcode = 'check_violation', constraint = 'embed_content_limit', table = tg_table_name;
    end if;
  end loop;
  return null;
end $$;
create or replace trigger folders_limited after insert on folders
  referencing new table as changed for each statement execute function count_embed_content();
create or replace trigger workbooks_limited after insert on workbooks
  referencing new table as changed for each statement execute function count_embed_content();
create or replace trigger reports_limited after insert on reports
  referencing new table as changed for each statement execute function count_embed_content();
create or replace trigger folders_freed after delete on folders
  referencing old table as changed for each statement execute function count_embed_content();
create or replace trigger workbooks_freed after delete on workbooks
  referencing old table as changed for each statement execute function count_embed_content();
create or replace trigger reports_freed after delete on reports
  referencing old table as changed for each statement execute function count_embed_content();

-- The counts of an embed tenant are deleted with it.
create or replace function delete_embed_content_counts() returns trigger language plpgsql as $$
begin
  delete from embed_content_counts c using gone g where c.content_key = g.content_key;
  return null;
end $$;
create or replace trigger embed_tenants_uncounted after delete on embed_tenants
  referencing old table as gone for each statement execute function delete_embed_content_counts();
