-- Minting a session is one call of mint_embed_session, and so one transaction in one round trip. It writes only what differs
-- from what is stored. Locks are taken in one order everywhere: the embed tenant, which also guards its catalogues of groups
-- and attributes; users that exist; the count of external users, which guards new ones.

-- All or nothing: errors end the transaction, and name everything that is wrong. A dry run returns them instead, mints
-- nothing, and leaves the rollback to the caller. The request is valid in itself, and holds no nulls but those that clear a
-- value. Its `groupDefinitions` are those of both kinds.
create or replace function mint_embed_session(
  request jsonb, secret_hash bytea, user_limit bigint, origin jsonb, dry_run boolean)
returns jsonb language plpgsql
-- Everything is found by a key. A connection keeps its plans, and those made while tables were small would scan them.
-- Compiling plans as small as these takes longer than any of them.
set enable_seqscan = off
set jit = off
as $$
declare
  tenant text := request->>'embedTenantName';
  is_creator boolean := (request->>'creatorMode')::boolean;
  -- Empty for the account's own.
  catalogue text := case when is_creator then tenant else '' end;
  tenant_id bigint;
  tenant_is_new boolean;
  viewer_id bigint := (request->>'userId')::bigint;
  viewer_is_new boolean := false;
  changed jsonb := '[]';
  defined jsonb := '{"created": [], "updated": []}';
  errors jsonb := '[]';
  group_ids bigint[];
  tenant_group_ids bigint[];
  attributes jsonb;
  session_id bigint;
begin
  select t.tenant_id, t.is_new into tenant_id, tenant_is_new
  from ensure_embed_tenant(tenant, request->'embedTenantProfile'->>'displayName', origin) t;
  if request ? 'groupDefinitions' then
    defined := define_embed_groups(tenant, request->'groupDefinitions', origin, defined);
  end if;
  if request ? 'userAttributeDefinitions' then
    select d.defined, d.errors into defined, errors
    from define_embed_attributes(tenant, request->'userAttributeDefinitions', origin, defined, errors) d;
  end if;
  select r.ids, r.errors into group_ids, errors
  from resolve_embed_groups(catalogue, 'groups', request->'groups', errors) r;
  select r.ids, r.errors into tenant_group_ids, errors
  from resolve_embed_groups(catalogue, 'tenantGroups', request->'tenantGroups', errors) r;
  select r.resolved, r.errors into attributes, errors
  from resolve_embed_attributes(catalogue, request->'userAttributes', errors) r;

  if viewer_id is not null then
    -- There is no user of the tenant to hold, and its deletion must not miss this session.
    perform from embed_tenants where name = tenant for key share;
    if not found then
      raise exception 'the embed tenant was deleted meanwhile' using errcode = 'serialization_failure';
    end if;
  elsif dry_run or errors = '[]' then
    select u.viewer_id, u.is_new, u.changed, u.errors into viewer_id, viewer_is_new, changed, errors
    from ensure_external_user(tenant, request, user_limit, errors) u;
  end if;
  if has_lost_definitions(request, tenant_id, errors) then
    raise exception 'what the call defines was deleted meanwhile' using errcode = 'serialization_failure';
  end if;
  if errors <> '[]' and not dry_run then
    raise exception 'the session is refused' using errcode = 'OR400', detail = errors::text;
  end if;
  if errors = '[]' then
    perform replace_embed_groups(viewer_id, catalogue, group_ids, tenant_group_ids);
    perform set_embed_attributes(viewer_id, attributes);
  end if;
  if dry_run then
    return jsonb_build_object('errors', errors, 'viewerId', viewer_id, 'tenantIsNew', tenant_is_new,
      'viewerIsNew', viewer_is_new, 'changed', changed, 'definitions', defined);
  end if;
  insert into embed_sessions (secret_hash, deployment_id, embed_tenant, user_id, creator_mode, api_key_id,
                              security_context, settings, embed_theme, expires_at)
  values (secret_hash, (request->>'deploymentId')::bigint, tenant, viewer_id, is_creator, (origin->>'apiKeyId')::bigint,
          request->'securityContext', request->'settings', request->'embedTheme', now() + interval '5 minutes')
  returning id into session_id;
  return to_jsonb(session_id);
end $$;

-- Everything that minting creates or changes has an entry in the audit log.
create or replace function audit_minting(origin jsonb, noun text, resource_id text, before jsonb, after jsonb) returns void
language sql as $$
  insert into audit_log (operation, resource_type, resource_id, user_id, api_key_id, ip, request_id, before, after)
  values ('generateSession', noun, resource_id, (origin->>'userId')::bigint, (origin->>'apiKeyId')::bigint,
          origin->>'ip', origin->>'requestId', before, after)
$$;

-- Finds or makes the embed tenant, and brings its display name up to date.
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

-- Guards the catalogues of groups and attributes of the embed tenant.
create or replace function lock_embed_tenant(tenant text) returns void
language sql as $$
  select from embed_tenants where name = tenant for no key update
$$;

-- Makes and updates groups. Adds the names of what was created and what was updated to `defined`.
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
        update user_groups set description = wanted.description where id = stored.id;
        perform audit_minting(origin, 'embedGroup', stored.id::text,
          jsonb_build_object('embedTenantName', tenant, 'name', wanted.name, 'description', stored.description),
          jsonb_build_object('embedTenantName', tenant, 'name', wanted.name, 'description', wanted.description));
        defined := jsonb_insert(defined, '{updated,-1}', to_jsonb(wanted.name), true);
      end if;
    end loop;
  end loop;
  return defined;
end $$;

-- Makes and updates attributes, like `define_embed_groups`. A definition whose type differs from the stored one changes
-- nothing and is added to `errors`.
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

-- The ids of the groups with these names in a catalogue. Names that it does not hold are added to `errors`, with the
-- field of the request that has them.
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

-- Checks values against the catalogue. `resolved` pairs the ids of attributes with the values.
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

-- Whether a value is of the type of an attribute. Null fits every type.
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

-- Finds or makes the external user, brings the profile up to date and holds the row until the end of the transaction.
-- `viewer_id` stays null, with an error, if the limit is reached.
create or replace function ensure_external_user(
  tenant text, request jsonb, user_limit bigint,
  inout errors jsonb, out viewer_id bigint, out is_new boolean, out changed jsonb)
language plpgsql as $$
declare
  stored users;
  wanted_email text := request->>'email';
  wanted_name text := request->'userProfile'->>'displayName';
  wanted_picture text := request->'userProfile'->>'picture';
begin
  is_new := false;
  changed := '[]';
  loop
    select * into stored from users
    where embed_tenant = tenant and external_id = request->>'externalId' for no key update;
    exit when found;
    -- A tenant that was deleted meanwhile fails the insert, and the call begins again.
    perform from embed_tenants where name = tenant for key share;
    -- New users are made one after another, and who had to wait looks again.
    perform from external_user_count where singleton for update;
    continue when exists (select from users where embed_tenant = tenant and external_id = request->>'externalId');
    if (select count from external_user_count where singleton) >= user_limit then
      errors := errors || jsonb_build_object('code', 'external_user_limit_reached');
      return;
    end if;
    insert into users (embed_tenant, external_id, username, email, first_name, picture)
    values (tenant, request->>'externalId', request->>'externalId', wanted_email, wanted_name, wanted_picture)
    returning id into viewer_id;
    is_new := true;
    return;
  end loop;
  viewer_id := stored.id;
  if stored.email is distinct from coalesce(wanted_email, stored.email) then changed := changed || '"email"'; end if;
  if stored.first_name is distinct from coalesce(wanted_name, stored.first_name) then changed := changed || '"displayName"'; end if;
  if stored.picture is distinct from coalesce(wanted_picture, stored.picture) then changed := changed || '"picture"'; end if;
  if changed <> '[]' then
    update users
    set email = coalesce(wanted_email, email), first_name = coalesce(wanted_name, first_name),
        picture = coalesce(wanted_picture, picture), updated_at = now()
    where id = viewer_id;
  end if;
end $$;

-- Definitions that are stored already are not locked, so that calls which repeat them do not queue. Another call may have
-- deleted them since, alone or with the tenant. From now on the viewer's row keeps the tenant in place.
create or replace function has_lost_definitions(request jsonb, tenant_id bigint, errors jsonb) returns boolean
language plpgsql as $$
begin
  if not request ?| '{groupDefinitions,userAttributeDefinitions,embedTenantProfile}' then
    return false;
  end if;
  return not exists (select from embed_tenants where id = tenant_id) or exists (
    select
    from jsonb_array_elements(errors) as e (error),
         jsonb_array_elements(error->'names') as m (missing),
         jsonb_array_elements(request->case error->>'code'
           when 'groups_not_found' then 'groupDefinitions'
           else 'userAttributeDefinitions' end) as d (definition)
    where definition->'name' = missing);
end $$;

-- Leaves the user in exactly these groups of the catalogue, for each kind that is given. The other kind stays.
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
  -- Groups take in members without asking for the user.
  on conflict (group_id, user_id) do update
  set in_groups = excluded.in_groups, in_tenant_groups = excluded.in_tenant_groups;
end $$;

-- Stores what `resolve_embed_attributes` returned, and writes only what differs.
create or replace function set_embed_attributes(viewer_id bigint, resolved jsonb) returns void
language plpgsql as $$
begin
  if resolved is null then return; end if;
  -- A value that is null in JSON is null here.
  delete from user_attribute_values v using jsonb_to_recordset(resolved) as r (id bigint, value jsonb)
  where v.user_id = viewer_id and v.attribute_id = r.id and r.value is null;
  insert into user_attribute_values (user_id, attribute_id, value)
  select viewer_id, r.id, r.value from jsonb_to_recordset(resolved) as r (id bigint, value jsonb)
  left join user_attribute_values v on v.user_id = viewer_id and v.attribute_id = r.id
  where r.value is not null and v.value is distinct from r.value
  order by r.id
  on conflict (user_id, attribute_id) do update set value = excluded.value;
end $$;
