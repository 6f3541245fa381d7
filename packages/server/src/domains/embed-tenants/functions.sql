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
