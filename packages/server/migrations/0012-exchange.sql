-- Exchanges several sessions at once; `n` counts from 1 where the session stands in the lists. Of parallel calls for one
-- session one gets the row. A session may have been minted while its deployment or tenant was being deleted, by who had
-- not heard of that.
--
-- Without `waits`, a session that somebody else is changing is left out, so that the others do not wait for it.
create function exchange_embed_sessions(ids bigint[], secret_hashes bytea[], waits boolean)
returns table (n int, session_id bigint, user_id bigint, deployment_id bigint, embed_tenant text, creator_mode boolean,
               api_key_id bigint, is_internal boolean, exchanged_at double precision)
language plpgsql
-- As for minting.
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  for i in 1 .. cardinality(ids) loop
    if not waits then
      perform from embed_sessions s
      where s.id = ids[i] and s.secret_hash = secret_hashes[i] and s.exchanged_at is null
      for no key update skip locked;
      continue when not found;
    end if;
    return query
      update embed_sessions s
      set exchanged_at = clock_timestamp(), expires_at = clock_timestamp() + interval '24 hours'
      from users u
      where s.id = ids[i] and s.secret_hash = secret_hashes[i] and s.exchanged_at is null and s.revoked_at is null
        and s.expires_at > now() and u.id = s.user_id and not u.is_deactivated
        and exists (select from deployments d where d.id = s.deployment_id)
        and exists (select from embed_tenants t where t.name = s.embed_tenant)
      returning i, s.id, s.user_id, s.deployment_id, s.embed_tenant, s.creator_mode, s.api_key_id,
        u.embed_tenant is null, extract(epoch from s.exchanged_at)::double precision;
  end loop;
end $$;
