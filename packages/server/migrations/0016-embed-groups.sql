-- Each embed tenant has one catalogue of groups, as the account has. What used to be two namespaces are now two kinds of
-- membership: `groups`, which data policies see, and `tenantGroups`, with whom content is shared in the embed tenant.
-- In groups of the account there is the first kind only.
alter table user_group_members
  add column in_groups boolean not null default true,
  add column in_tenant_groups boolean not null default false,
  add constraint user_group_members_kind_check check (in_groups or in_tenant_groups);

update user_group_members m set in_groups = false, in_tenant_groups = true
from user_groups g where g.id = m.group_id and g.namespace = 'tenantGroups';

-- Groups whose name stands in both namespaces become one. It keeps the id that the API has shown so far.
create view merged_groups as
  select kept.id as kept_id, gone.id as gone_id, gone.description
  from user_groups kept join user_groups gone on gone.embed_tenant = kept.embed_tenant and gone.name = kept.name
  where kept.namespace = 'groups' and gone.namespace = 'tenantGroups';

insert into user_group_members (group_id, user_id, in_groups, in_tenant_groups)
select g.kept_id, m.user_id, false, true from merged_groups g join user_group_members m on m.group_id = g.gone_id
on conflict (group_id, user_id) do update set in_tenant_groups = true;

-- Of two policies on one resource the one that gives more stays.
insert into resource_policies as p (deployment_id, resource_type, resource_id, group_id, action, level, created_at)
select o.deployment_id, o.resource_type, o.resource_id, g.kept_id, o.action, o.level, o.created_at
from merged_groups g join resource_policies o on o.group_id = g.gone_id
on conflict (resource_type, resource_id, group_id) where group_id is not null
do update set action = excluded.action, level = excluded.level where p.level < excluded.level;

update user_groups g set description = m.description
from merged_groups m where g.id = m.kept_id and g.description is null and m.description is not null;

delete from user_groups where id in (select gone_id from merged_groups);

drop view merged_groups;
drop index user_groups_name_key;
alter table user_groups drop column namespace;
create unique index user_groups_name_key on user_groups (coalesce(embed_tenant, ''), name);

drop function define_embed_groups(text, text, jsonb, jsonb, jsonb);
drop function resolve_embed_groups(text, text, jsonb, jsonb);
drop function replace_embed_groups(bigint, text, text, bigint[]);

-- Adds what it did to `defined`: the names of what was created and what was updated.
create function define_embed_groups(tenant text, definitions jsonb, origin jsonb, defined jsonb)
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

-- The ids of the groups with these names in a catalogue. Names that it does not hold are added to `errors`, with the
-- field of the request that has them.
create function resolve_embed_groups(
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

-- Of each kind that is given, leaves the user in exactly these groups of the catalogue. The other kind stays.
create function replace_embed_groups(viewer_id bigint, catalogue text, group_ids bigint[], tenant_group_ids bigint[])
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

-- Definitions that are stored already are not locked, so that calls which repeat them do not queue. Somebody may have
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

-- All or nothing: errors end the transaction, and name everything that is wrong. A dry run answers them instead, mints
-- nothing, and leaves it to the caller to roll back. The request is valid in itself, and holds no nulls but those that
-- clear a value. Its `groupDefinitions` are those of both kinds.
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
