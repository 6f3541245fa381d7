-- Minting a session is one call of mint_embed_session: one transaction in one round trip. It writes only values that
-- differ from the stored ones. Locks are always taken in this order: the embed tenant, which also guards its catalogues
-- of groups and attributes; existing users; the count of external users, which guards new users.

-- Mints the session, or raises an exception that names every error, which ends the transaction. A dry run returns the
-- errors instead and mints nothing; the caller must roll back. The caller has already checked the request. It contains
-- null only to clear a value. Its `groupDefinitions` include the tenant group definitions. `told` is for `db.notify`.
create or replace function mint_embed_session(
  request jsonb, secret_hash bytea, user_limit bigint, origin jsonb, dry_run boolean)
returns jsonb language plpgsql
-- Every row is found by a key. A connection keeps its plans, and a plan from a time when a table was small would scan
-- it. JIT compilation takes longer than running any of these small plans.
set enable_seqscan = off
set jit = off
as $$
declare
  tenant text := request->>'embedTenantName';
  is_creator boolean := (request->>'creatorMode')::boolean;
  -- Empty for the catalogue of the account.
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
    -- No user of the tenant is locked here, so the tenant is locked. Its deletion must not miss this session.
    perform from embed_tenants where name = tenant for key share;
    if not found then
      raise exception 'the embed tenant was deleted during the call' using errcode = 'serialization_failure';
    end if;
  elsif dry_run or errors = '[]' then
    select u.viewer_id, u.is_new, u.changed, u.errors into viewer_id, viewer_is_new, changed, errors
    from ensure_external_user(tenant, request, user_limit, errors) u;
  end if;
  if has_lost_definitions(request, tenant_id, errors) then
    raise exception 'a group or attribute that the call defines was deleted during the call' using errcode = 'serialization_failure';
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
  return jsonb_build_object('id', session_id, 'viewerId', viewer_id, 'told', current_setting('oriel.told', true));
end $$;

-- Returns whether a definition of the request was deleted during the call. Definitions that are already stored are not
-- locked, so that calls that repeat them do not wait for each other. Another call may have deleted them, alone or with
-- the tenant. When this function runs, the lock on the viewer's row already prevents the deletion of the tenant.
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
