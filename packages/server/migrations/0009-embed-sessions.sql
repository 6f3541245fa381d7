-- Keys that sign tokens. The private half is encrypted with a key derived from the installation's secret.
create table signing_keys (
  id text primary key,
  public_key jsonb not null,
  private_key bytea not null,
  created_at timestamptz not null default now()
);

-- Servers keep the keys in memory.
create trigger signing_keys_changed after insert or delete on signing_keys
  for each statement execute function notify_credentials();

-- No foreign key but the one to the viewer's own row: checking one locks the row that it points to, and all calls
-- share a deployment, a tenant and a key. Triggers below see to what is deleted.
create table embed_sessions (
  id bigint generated always as identity primary key,
  -- SHA-256 of the secret half of the session id. It is long and random, so a slow hash would add nothing.
  secret_hash bytea not null,
  deployment_id bigint not null,
  embed_tenant text not null,
  user_id bigint not null references users on delete cascade,
  creator_mode boolean not null,
  api_key_id bigint not null,
  security_context jsonb,
  settings jsonb,
  embed_theme jsonb,
  created_at timestamptz not null default now(),
  -- Of the session until it is exchanged, then of the token.
  expires_at timestamptz not null,
  exchanged_at timestamptz,
  revoked_at timestamptz,
  last_seen_at timestamptz
-- Each row is changed once or twice, in columns that no index holds: room for that on its own page.
) with (fillfactor = 75);
create index embed_sessions_of_user on embed_sessions (user_id, id);
create index embed_sessions_of_tenant on embed_sessions (embed_tenant, id);
create index embed_sessions_of_deployment on embed_sessions (deployment_id, id);
create index embed_sessions_of_key on embed_sessions (api_key_id, id);
create index embed_sessions_revoked on embed_sessions (id) where revoked_at is not null;

-- What ended before its time: one session, or all that were exchanged up to a moment. Servers keep the list in memory,
-- so that verifying a token takes no query. An entry is needed for as long as a token can live.
create table embed_revocations (
  id bigint generated always as identity primary key,
  session_id bigint,
  user_id bigint,
  embed_tenant text,
  api_key_id bigint,
  deployment_id bigint,
  revoked_at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(session_id, user_id, embed_tenant, api_key_id, deployment_id) = 1)
);
create index embed_revocations_by_time on embed_revocations (revoked_at);

create function notify_embed_revocation() returns trigger language plpgsql as $$
begin
  perform pg_notify('oriel_embed_revocations', json_build_object(
    'sessionId', new.session_id, 'userId', new.user_id, 'embedTenant', new.embed_tenant,
    'apiKeyId', new.api_key_id, 'deploymentId', new.deployment_id,
    'until', extract(epoch from new.revoked_at))::text);
  return null;
end $$;
create trigger embed_revocations_added after insert on embed_revocations
  for each row execute function notify_embed_revocation();

create function revoke_embed_sessions_of_deleted() returns trigger language plpgsql as $$
begin
  case tg_table_name
    when 'users' then
      insert into embed_revocations (user_id) values (old.id);
    when 'embed_tenants' then
      delete from embed_sessions where embed_tenant = old.name;
      insert into embed_revocations (embed_tenant) values (old.name);
    when 'deployments' then
      delete from embed_sessions where deployment_id = old.id;
      insert into embed_revocations (deployment_id) values (old.id);
  end case;
  return null;
end $$;
create trigger users_deleted after delete on users
  for each row execute function revoke_embed_sessions_of_deleted();
create trigger embed_tenants_deleted after delete on embed_tenants
  for each row execute function revoke_embed_sessions_of_deleted();
create trigger deployments_deleted_revoke after delete on deployments
  for each row execute function revoke_embed_sessions_of_deleted();

-- Minting a session is one call of mint_embed_session, and so one transaction in one round trip. It writes only what
-- differs from what is stored. Locks are taken in one order everywhere: the embed tenant, which also guards its
-- catalogues of groups and attributes; users that exist; the count of external users, which guards new ones.

create function audit_minting(origin jsonb, noun text, resource_id text, before jsonb, after jsonb) returns void
language sql as $$
  insert into audit_log (operation, resource_type, resource_id, user_id, api_key_id, ip, request_id, before, after)
  values ('generateSession', noun, resource_id, (origin->>'userId')::bigint, (origin->>'apiKeyId')::bigint,
          origin->>'ip', origin->>'requestId', before, after)
$$;

create function ensure_embed_tenant(
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

create function lock_embed_tenant(tenant text) returns void
language sql as $$
  select from embed_tenants where name = tenant for no key update
$$;

-- Adds what it did to `defined`: the names of what was created and what was updated.
create function define_embed_groups(tenant text, wanted_namespace text, definitions jsonb, origin jsonb, defined jsonb)
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
      select * into stored from user_groups
      where coalesce(embed_tenant, '') = tenant and namespace = wanted_namespace and name = wanted.name;
      exit when stored.id is not null
        and stored.description is not distinct from coalesce(wanted.description, stored.description);
      if tries = 1 then
        perform lock_embed_tenant(tenant);
      elsif stored.id is null then
        insert into user_groups (embed_tenant, namespace, name, description)
        values (tenant, wanted_namespace, wanted.name, wanted.description) returning id into id_after;
        perform audit_minting(origin, 'embedGroup', id_after::text, null, jsonb_build_object(
          'embedTenantName', tenant, 'namespace', wanted_namespace, 'name', wanted.name, 'description', wanted.description));
        defined := jsonb_insert(defined, '{created,-1}', to_jsonb(wanted.name), true);
      else
        update user_groups set description = wanted.description where id = stored.id;
        perform audit_minting(origin, 'embedGroup', stored.id::text,
          jsonb_build_object('embedTenantName', tenant, 'namespace', wanted_namespace, 'name', wanted.name, 'description', stored.description),
          jsonb_build_object('embedTenantName', tenant, 'namespace', wanted_namespace, 'name', wanted.name, 'description', wanted.description));
        defined := jsonb_insert(defined, '{updated,-1}', to_jsonb(wanted.name), true);
      end if;
    end loop;
  end loop;
  return defined;
end $$;

create function shown_attribute(a user_attributes) returns jsonb
language sql immutable as $$
  select jsonb_build_object('id', a.id, 'embedTenantName', a.embed_tenant, 'name', a.name, 'type', a.type,
    'displayName', a.display_name, 'defaultValue', a.default_value, 'description', a.description)
$$;

-- As above; a definition whose type differs from the stored one changes nothing and is added to `errors`.
create function define_embed_attributes(
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

create function fits_attribute_type(type text, value jsonb) returns boolean
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

-- The ids of the groups with these names in a catalogue. Names that it does not hold are added to `errors`.
create function resolve_embed_groups(
  catalogue text, wanted_namespace text, names jsonb, inout errors jsonb, out ids bigint[])
language plpgsql as $$
declare
  missing jsonb;
begin
  if names is null then return; end if;
  select coalesce(array_agg(g.id) filter (where g.id is not null), '{}'),
         jsonb_agg(wanted.name order by wanted.position) filter (where g.id is null)
  into ids, missing
  from jsonb_array_elements_text(names) with ordinality as wanted (name, position)
  left join user_groups g
    on coalesce(g.embed_tenant, '') = catalogue and g.namespace = wanted_namespace and g.name = wanted.name;
  if missing is not null then
    errors := errors || jsonb_build_object('code', 'groups_not_found', 'field', wanted_namespace, 'names', missing);
  end if;
end $$;

-- Leaves the user in exactly these groups of the catalogue. Where none are given, nothing changes.
create function replace_embed_groups(viewer_id bigint, catalogue text, wanted_namespace text, wanted_ids bigint[])
returns void language plpgsql as $$
declare
  stored_ids bigint[];
begin
  if wanted_ids is null then return; end if;
  stored_ids := array(
    select m.group_id from user_group_members m join user_groups g on g.id = m.group_id
    where m.user_id = viewer_id and coalesce(g.embed_tenant, '') = catalogue and g.namespace = wanted_namespace);
  if not stored_ids <@ wanted_ids then
    delete from user_group_members
    where user_id = viewer_id and group_id = any(stored_ids) and group_id <> all(wanted_ids);
  end if;
  if not wanted_ids <@ stored_ids then
    insert into user_group_members (user_id, group_id)
    select viewer_id, id from unnest(wanted_ids) as w (id) where id <> all(stored_ids) order by id
    -- Groups take in members without asking for the user.
    on conflict do nothing;
  end if;
end $$;

-- Checks values against the catalogue. `resolved` pairs the ids of attributes with the values.
create function resolve_embed_attributes(
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

create function set_embed_attributes(viewer_id bigint, resolved jsonb) returns void
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

-- Finds or makes the external user, brings the profile up to date and holds the row until the end of the transaction.
-- `viewer_id` stays null, with an error, where the limit is reached.
create function ensure_external_user(
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

-- Definitions that are stored already are not locked, so that calls which repeat them do not queue. Somebody may have
-- deleted them since, alone or with the tenant. From now on the viewer's row keeps the tenant in place.
create function has_lost_definitions(request jsonb, tenant_id bigint, errors jsonb) returns boolean
language plpgsql as $$
begin
  if not request ?| '{groupDefinitions,tenantGroupDefinitions,userAttributeDefinitions,embedTenantProfile}' then
    return false;
  end if;
  return not exists (select from embed_tenants where id = tenant_id) or exists (
    select
    from jsonb_array_elements(errors) as e (error),
         jsonb_array_elements(error->'names') as m (missing),
         jsonb_array_elements(request->case error->>'field'
           when 'groups' then 'groupDefinitions'
           when 'tenantGroups' then 'tenantGroupDefinitions'
           else 'userAttributeDefinitions' end) as d (definition)
    where definition->'name' = missing);
end $$;

-- All or nothing: errors end the transaction, and name everything that is wrong. A dry run answers them instead, mints
-- nothing, and leaves it to the caller to roll back. The request is valid in itself, and holds no nulls but those that
-- clear a value.
create function mint_embed_session(request jsonb, secret_hash bytea, user_limit bigint, origin jsonb, dry_run boolean)
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
    defined := define_embed_groups(tenant, 'groups', request->'groupDefinitions', origin, defined);
  end if;
  if request ? 'tenantGroupDefinitions' then
    defined := define_embed_groups(tenant, 'tenantGroups', request->'tenantGroupDefinitions', origin, defined);
  end if;
  if request ? 'userAttributeDefinitions' then
    select d.defined, d.errors into defined, errors
    from define_embed_attributes(tenant, request->'userAttributeDefinitions', origin, defined, errors) d;
  end if;
  select r.ids, r.errors into group_ids, errors
  from resolve_embed_groups(catalogue, 'groups', request->'groups', errors) r;
  select r.ids, r.errors into tenant_group_ids, errors
  from resolve_embed_groups(tenant, 'tenantGroups', request->'tenantGroups', errors) r;
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
    perform replace_embed_groups(viewer_id, catalogue, 'groups', group_ids);
    perform replace_embed_groups(viewer_id, tenant, 'tenantGroups', tenant_group_ids);
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
