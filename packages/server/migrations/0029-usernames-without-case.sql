-- Usernames are compared without case, and different forms of the same letters count as equal. If two users have had
-- such names, the older one keeps the name, and the others get their id appended.
do $$
begin
  loop
    update users u set username = u.username || '-' || u.id
    where u.embed_tenant is null and u.deleted_at is null and exists (
      select from users older
      where older.embed_tenant is null and older.deleted_at is null and older.id < u.id
        and lower(normalize(older.username, nfkc)) = lower(normalize(u.username, nfkc)));
    exit when not found;
  end loop;
end $$;

drop index users_username_key;
create unique index users_username_key on users (lower(normalize(username, nfkc)))
  where embed_tenant is null and deleted_at is null;
