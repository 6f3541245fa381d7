-- Finds or creates the embed tenant, and updates its display name.
create or replace function ensure_embed_tenant(
  tenant text, wanted_display_name text, origin jsonb, out tenant_id bigint, out is_new boolean)
language plpgsql as $$
declare
  stored embed_tenants;
begin
  is_new := false;
  loop
    select * into stored from embed_tenants where name = tenant;
    tenant_id := stored.id;
    exit when found;
    insert into embed_tenants (name, display_name) values (tenant, wanted_display_name)
    on conflict (name) do nothing returning id into tenant_id;
    if found then
      is_new := true;
      perform audit_minting(origin, 'embedTenant', tenant, null,
                            jsonb_build_object('name', tenant, 'displayName', wanted_display_name));
      return;
    end if;
  end loop;
  if stored.display_name is distinct from coalesce(wanted_display_name, stored.display_name) then
    update embed_tenants set display_name = wanted_display_name where name = tenant;
    perform audit_minting(origin, 'embedTenant', tenant,
                          jsonb_build_object('name', tenant, 'displayName', stored.display_name),
                          jsonb_build_object('name', tenant, 'displayName', wanted_display_name));
  end if;
end $$;

-- Only the transaction that holds this lock changes the groups and attributes that the embed tenant defines.
create or replace function lock_embed_tenant(tenant text) returns void
language sql as $$
  select from embed_tenants where name = tenant for no key update
$$;
