-- Creates and updates attributes, like `define_embed_groups` does for groups. A definition with a type other than the
-- stored one changes nothing and is added to `errors`.
create or replace function define_embed_attributes(
  tenant text, definitions jsonb, origin jsonb, inout defined jsonb, inout errors jsonb)
language plpgsql as $$
declare
  wanted record;
  stored user_attributes;
  after user_attributes;
begin
  for wanted in
    select name, type, "displayName" as display_name, "defaultValue" as default_value, nullif(description, '') as description
    from jsonb_to_recordset(definitions) as d (name text, type text, "displayName" text, "defaultValue" text, description text)
    order by name
  loop
    for tries in 1..2 loop
      select * into stored from user_attributes where coalesce(embed_tenant, '') = tenant and name = wanted.name;
      if stored.id is not null and stored.type <> wanted.type then
        errors := errors || jsonb_build_object('code', 'attribute_type_conflict', 'name', wanted.name, 'type', stored.type);
        exit;
      end if;
      after := stored;
      after.display_name := coalesce(wanted.display_name, stored.display_name);
      after.default_value := coalesce(wanted.default_value, stored.default_value);
      after.description := coalesce(wanted.description, stored.description);
      exit when stored.id is not null and after is not distinct from stored;
      if tries = 1 then
        perform lock_embed_tenant(tenant);
      elsif stored.id is null then
        insert into user_attributes (embed_tenant, name, type, display_name, default_value, description)
        values (tenant, wanted.name, wanted.type, wanted.display_name, wanted.default_value, wanted.description)
        returning * into after;
        perform audit_minting(origin, 'userAttribute', after.id::text, null, shown_attribute(after));
        defined := jsonb_insert(defined, '{created,-1}', to_jsonb(wanted.name), true);
      else
        update user_attributes
        set display_name = after.display_name, default_value = after.default_value, description = after.description
        where id = stored.id;
        perform audit_minting(origin, 'userAttribute', stored.id::text, shown_attribute(stored), shown_attribute(after));
        defined := jsonb_insert(defined, '{updated,-1}', to_jsonb(wanted.name), true);
      end if;
    end loop;
  end loop;
end $$;

-- An attribute as the audit log shows it.
create or replace function shown_attribute(a user_attributes) returns jsonb
language sql immutable as $$
  select jsonb_build_object('id', a.id, 'embedTenantName', a.embed_tenant, 'name', a.name, 'type', a.type,
    'displayName', a.display_name, 'defaultValue', a.default_value, 'description', a.description)
$$;

-- Checks values against the catalogue. `resolved` holds the ids of the attributes with their values.
create or replace function resolve_embed_attributes(
  catalogue text, given jsonb, inout errors jsonb, out resolved jsonb)
language plpgsql as $$
declare
  missing jsonb;
  unfit jsonb;
begin
  if given is null then return; end if;
  select jsonb_agg(jsonb_build_object('id', a.id, 'value', g.item->'value')),
         jsonb_agg(g.item->'name' order by g.position) filter (where a.id is null),
         jsonb_agg(jsonb_build_object('code', 'attribute_value_mismatch', 'name', a.name, 'type', a.type) order by g.position)
           filter (where not fits_attribute_type(a.type, g.item->'value'))
  into resolved, missing, unfit
  from jsonb_array_elements(given) with ordinality as g (item, position)
  left join user_attributes a on coalesce(a.embed_tenant, '') = catalogue and a.name = g.item->>'name';
  if missing is not null then
    errors := errors || jsonb_build_object('code', 'user_attributes_not_found', 'names', missing);
  end if;
  errors := errors || coalesce(unfit, '[]');
end $$;

-- Returns whether a value has the type of an attribute. Null fits every type.
create or replace function fits_attribute_type(type text, value jsonb) returns boolean
language sql immutable as $$
  select case
    when jsonb_typeof(value) = 'null' then true
    when type = 'string_array' then
      jsonb_typeof(value) = 'array' and not jsonb_path_exists(value, 'strict $[*] ? (@.type() != "string")')
    when type = 'number_array' then
      jsonb_typeof(value) = 'array' and not jsonb_path_exists(value, 'strict $[*] ? (@.type() != "number")')
    else jsonb_typeof(value) = type
  end
$$;

-- Stores the result of `resolve_embed_attributes`, and writes only values that differ.
create or replace function set_embed_attributes(viewer_id bigint, resolved jsonb) returns void
language plpgsql as $$
begin
  -- `jsonb_to_recordset` turns a JSON null into an SQL null.
  if resolved is null or not exists (
    select from jsonb_to_recordset(resolved) as r (id bigint, value jsonb)
    left join user_attribute_values v on v.user_id = viewer_id and v.attribute_id = r.id
    where v.value is distinct from r.value) then
    return;
  end if;
  delete from user_attribute_values v using jsonb_to_recordset(resolved) as r (id bigint, value jsonb)
  where v.user_id = viewer_id and v.attribute_id = r.id and r.value is null;
  insert into user_attribute_values (user_id, attribute_id, value)
  select viewer_id, r.id, r.value from jsonb_to_recordset(resolved) as r (id bigint, value jsonb)
  left join user_attribute_values v on v.user_id = viewer_id and v.attribute_id = r.id
  where r.value is not null and v.value is distinct from r.value
  order by r.id
  on conflict (user_id, attribute_id) do update set value = excluded.value;
end $$;
