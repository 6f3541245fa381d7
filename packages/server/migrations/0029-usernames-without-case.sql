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

-- People sign in with their email or their username, so these are one space of names: the username of one person can not
-- be the email of another. If it was, it signs in the person with the email. A trigger keeps the names in step.
create table sign_in_names (
  name text primary key,
  user_id bigint not null references users on delete cascade
);
create index sign_in_names_user on sign_in_names (user_id);
insert into sign_in_names (name, user_id)
select lower(normalize(n.name, nfkc)), u.id
from users u cross join lateral (values (1, u.email), (2, u.username)) as n (place, name)
where u.embed_tenant is null and u.deleted_at is null and n.name is not null
order by n.place, u.id
on conflict do nothing;
