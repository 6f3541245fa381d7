-- Exchanges several sessions at once. `n` is the position of the session in the lists, from 1. If several calls
-- exchange one session in parallel, only one call gets the row. The deployment, the tenant and creator mode are checked
-- again, because a server that did not yet know of a change may have minted the session.
--
-- Without `waits`, a session that another call has locked is left out, so that the other sessions do not wait for it.
-- The sessions are locked one by one and then updated by their `ctid`, so that the planner reads no other rows, even if
-- its statistics are wrong.
create or replace function exchange_embed_sessions(ids bigint[], secret_hashes bytea[], waits boolean)
returns table (n bigint, session_id bigint, user_id bigint, deployment_id bigint, embed_tenant text, creator_mode boolean,
               api_key_id bigint, is_internal boolean, exchanged_at double precision)
language plpgsql
-- Every row is found by a key, so a sequential scan is never right. Without the generic plan, PostgreSQL would plan
-- short lists again on each call.
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if waits then
    perform from embed_sessions s where s.id = any(ids) order by s.id for no key update;
  end if;
  return query
    with held as materialized (
      select given.n, live.place, live.is_internal
      from unnest(ids, secret_hashes) with ordinality as given (id, secret_hash, n),
        lateral (
          select s.ctid as place, u.embed_tenant is null as is_internal
          from embed_sessions s join users u on u.id = s.user_id and not u.is_deactivated
          where s.id = given.id and s.secret_hash = given.secret_hash
            and s.exchanged_at is null and s.revoked_at is null and s.expires_at > now()
            and exists (select from deployments d where d.id = s.deployment_id)
            and exists (select from embed_tenants t where t.name = s.embed_tenant)
            and (not s.creator_mode or (select use_creator_mode from tenant_settings))
          for no key update of s skip locked) live)
    update embed_sessions s
    set exchanged_at = clock_timestamp(), expires_at = clock_timestamp() + interval '24 hours'
    from held where s.ctid = held.place
    returning held.n, s.id, s.user_id, s.deployment_id, s.embed_tenant, s.creator_mode, s.api_key_id, held.is_internal,
      extract(epoch from s.exchanged_at)::double precision;
end $$;

-- Notifies every server of the revocation.
create or replace function notify_embed_revocation() returns trigger language plpgsql as $$
begin
  perform pg_notify('oriel_embed_revocations', json_build_object(
    'sessionId', new.session_id, 'userId', new.user_id, 'embedTenant', new.embed_tenant,
    'apiKeyId', new.api_key_id, 'deploymentId', new.deployment_id, 'creatorMode', new.creator_mode,
    'until', extract(epoch from new.revoked_at))::text);
  return null;
end $$;
create or replace trigger embed_revocations_added after insert on embed_revocations
  for each row execute function notify_embed_revocation();

-- Ends the sessions of a deleted user, embed tenant or deployment. Sessions of a deleted deployment cannot be
-- exchanged any more, and a job removes them.
create or replace function revoke_embed_sessions_of_deleted() returns trigger language plpgsql as $$
begin
  case tg_table_name
    when 'users' then
      insert into embed_revocations (user_id) values (old.id);
    when 'embed_tenants' then
      delete from embed_sessions where embed_tenant = old.name;
      insert into embed_revocations (embed_tenant) values (old.name);
    when 'deployments' then
      insert into embed_revocations (deployment_id) values (old.id);
  end case;
  return null;
end $$;
create or replace trigger users_deleted after delete on users
  for each row when (old.deleted_at is null and (old.embed_tenant is null or old.embed_tenant not like '~%'))
  execute function revoke_embed_sessions_of_deleted();
create or replace trigger deployments_deleted_revoke after delete on deployments
  for each row execute function revoke_embed_sessions_of_deleted();
create or replace trigger embed_tenants_deleted after delete on embed_tenants
  for each row when (old.deleted_at is null) execute function revoke_embed_sessions_of_deleted();

-- Ends the sessions of a user who is deactivated, and all sessions in creator mode when creator mode is switched off.
-- These sessions stay ended if the user is activated or creator mode is switched on again. The revocation is inserted
-- last, because its time must be later than the exchange of every session that the update has found.
create or replace function revoke_embed_sessions_of_ended() returns trigger language plpgsql as $$
begin
  case tg_table_name
    when 'users' then
      update embed_sessions set revoked_at = now()
      where user_id = new.id and revoked_at is null and expires_at > now();
      insert into embed_revocations (user_id) values (new.id);
    when 'tenant_settings' then
      update embed_sessions set revoked_at = now() where creator_mode and revoked_at is null and expires_at > now();
      insert into embed_revocations (creator_mode) values (true);
  end case;
  return null;
end $$;
create or replace trigger users_deactivated_revoke after update of is_deactivated on users
  for each row when (new.is_deactivated and not old.is_deactivated) execute function revoke_embed_sessions_of_ended();
create or replace trigger creator_mode_switched_off after update of use_creator_mode on tenant_settings
  for each row when (old.use_creator_mode and not new.use_creator_mode) execute function revoke_embed_sessions_of_ended();
