-- Exchanges several sessions at once; `n` counts from 1 where the session stands in the lists. Of parallel calls for one
-- session one gets the row. A session may have been minted while its deployment or tenant was being deleted, by who had
-- not heard of that.
--
-- Without `waits`, a session that somebody else holds is left out, so that the others do not wait for it. The sessions
-- are locked one by one and then changed where they are, so that whatever the planner believes of the tables, it looks
-- at nothing else.
create function exchange_embed_sessions(ids bigint[], secret_hashes bytea[], waits boolean)
returns table (n bigint, session_id bigint, user_id bigint, deployment_id bigint, embed_tenant text, creator_mode boolean,
               api_key_id bigint, is_internal boolean, exchanged_at double precision)
language plpgsql
-- As for minting. Without the last one, short lists would be planned anew each time.
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
          for no key update of s skip locked) live)
    update embed_sessions s
    set exchanged_at = clock_timestamp(), expires_at = clock_timestamp() + interval '24 hours'
    from held where s.ctid = held.place
    returning held.n, s.id, s.user_id, s.deployment_id, s.embed_tenant, s.creator_mode, s.api_key_id, held.is_internal,
      extract(epoch from s.exchanged_at)::double precision;
end $$;
