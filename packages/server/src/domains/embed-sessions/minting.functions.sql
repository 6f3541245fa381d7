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
