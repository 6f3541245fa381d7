-- Creates and updates groups. Adds the names of groups that were created or updated to `defined`.
create or replace function define_embed_groups(tenant text, definitions jsonb, origin jsonb, defined jsonb)
returns jsonb language plpgsql as $$
declare
  wanted record;
  stored user_groups;
  id_after bigint;
begin
  for wanted in
    select name, nullif(description, '') as description
    from jsonb_to_recordset(definitions) as d (name text, description text) order by name
  loop
    for tries in 1..2 loop
      select * into stored from user_groups where coalesce(embed_tenant, '') = tenant and name = wanted.name;
      exit when stored.id is not null
        and stored.description is not distinct from coalesce(wanted.description, stored.description);
      if tries = 1 then
        perform lock_embed_tenant(tenant);
      elsif stored.id is null then
        insert into user_groups (embed_tenant, name, description)
        values (tenant, wanted.name, wanted.description) returning id into id_after;
        perform audit_minting(origin, 'embedGroup', id_after::text, null, jsonb_build_object(
          'embedTenantName', tenant, 'name', wanted.name, 'description', wanted.description));
        defined := jsonb_insert(defined, '{created,-1}', to_jsonb(wanted.name), true);
      else
        update user_groups set description = wanted.description, updated_at = now() where id = stored.id;
        perform audit_minting(origin, 'embedGroup', stored.id::text,
          jsonb_build_object('embedTenantName', tenant, 'name', wanted.name, 'description', stored.description),
          jsonb_build_object('embedTenantName', tenant, 'name', wanted.name, 'description', wanted.description));
        defined := jsonb_insert(defined, '{updated,-1}', to_jsonb(wanted.name), true);
      end if;
    end loop;
  end loop;
  return defined;
end $$;

-- Returns the ids of the groups with these names in a catalogue. Unknown names are added to `errors`, with the field of
-- the request that contains them.
create or replace function resolve_embed_groups(
  catalogue text, field text, names jsonb, inout errors jsonb, out ids bigint[])
language plpgsql as $$
declare
  missing jsonb;
begin
  if names is null then return; end if;
  select coalesce(array_agg(g.id) filter (where g.id is not null), '{}'),
         jsonb_agg(wanted.name order by wanted.position) filter (where g.id is null)
  into ids, missing
  from jsonb_array_elements_text(names) with ordinality as wanted (name, position)
  left join user_groups g on coalesce(g.embed_tenant, '') = catalogue and g.name = wanted.name;
  if missing is not null then
    errors := errors || jsonb_build_object('code', 'groups_not_found', 'field', field, 'names', missing);
  end if;
end $$;

-- Sets the groups of the user in the catalogue to exactly these, for each kind of membership that is given. A kind that
-- is null stays.
create or replace function replace_embed_groups(viewer_id bigint, catalogue text, group_ids bigint[], tenant_group_ids bigint[])
returns void language plpgsql as $$
declare
  stored bigint[];
  stored_tenant bigint[];
begin
  if group_ids is null and tenant_group_ids is null then return; end if;
  select coalesce(array_agg(m.group_id) filter (where m.in_groups), '{}'),
         coalesce(array_agg(m.group_id) filter (where m.in_tenant_groups), '{}')
  into stored, stored_tenant
  from user_group_members m join user_groups g on g.id = m.group_id
  where m.user_id = viewer_id and coalesce(g.embed_tenant, '') = catalogue;
  group_ids := coalesce(group_ids, stored);
  tenant_group_ids := coalesce(tenant_group_ids, stored_tenant);
  if not (stored || stored_tenant) <@ (group_ids || tenant_group_ids) then
    delete from user_group_members
    where user_id = viewer_id and group_id = any(stored || stored_tenant)
      and group_id <> all(group_ids || tenant_group_ids);
  end if;
  if group_ids <@ stored and stored <@ group_ids and tenant_group_ids <@ stored_tenant and stored_tenant <@ tenant_group_ids then
    return;
  end if;
  insert into user_group_members (user_id, group_id, in_groups, in_tenant_groups)
  select viewer_id, w.id, w.id = any(group_ids), w.id = any(tenant_group_ids)
  from (select distinct unnest(group_ids || tenant_group_ids) as id) w
  where (w.id = any(group_ids), w.id = any(tenant_group_ids)) <> (w.id = any(stored), w.id = any(stored_tenant))
  order by w.id
  -- Adding members to a group does not lock the user, so another request may have added this row meanwhile.
  on conflict (group_id, user_id) do update
  set in_groups = excluded.in_groups, in_tenant_groups = excluded.in_tenant_groups;
end $$;
