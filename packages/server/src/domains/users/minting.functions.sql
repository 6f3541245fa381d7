-- Finds or creates the external user, updates the profile and locks the row until the end of the transaction.
-- If the limit is reached, `viewer_id` stays null and an error is added.
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
    -- If the tenant was deleted in the meantime, the insert fails and the call starts again.
    perform from embed_tenants where name = tenant for key share;
    -- New users are created one at a time. A call that had to wait for the lock looks for the user again.
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
    -- For notify_rights_of_users.
    perform set_config('oriel.new_user', viewer_id::text, true);
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
