-- Lists of people are ordered by id. Each filter can be read in this order, and a search finds rare texts by their
-- trigrams. External users are not in these lists.
create index users_people on users (id) where embed_tenant is null and deleted_at is null;
create index users_people_by_state on users (is_deactivated, id) where embed_tenant is null and deleted_at is null;
create index users_search on users
  using gin (lower(username || chr(1) || coalesce(email, '') || chr(1) || coalesce(first_name, '')) gin_trgm_ops)
  where embed_tenant is null and deleted_at is null;

create index user_roles_by_role on user_roles (role_id, user_id);
drop index user_roles_role;
