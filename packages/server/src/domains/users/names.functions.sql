-- The names with which people sign in: email and username. The primary key decides between parallel calls.
create or replace function take_sign_in_name(wanted text, person bigint, index_name text) returns void
language plpgsql as $$
begin
  -- Waits for a transaction that is about to take the name. The next statement then sees its outcome.
  insert into sign_in_names (name, user_id) values (wanted, person) on conflict (name) do nothing;
  if (select user_id from sign_in_names where name = wanted) is distinct from person then
    raise unique_violation using message = 'another person signs in with this name', table = 'users', constraint = index_name;
  end if;
end $$;

create or replace function keep_sign_in_names() returns trigger language plpgsql as $$
declare
  username_key text := lower(normalize(new.username, nfkc));
  email_key text := lower(normalize(new.email, nfkc));
begin
  delete from sign_in_names n
  where n.user_id = new.id and (new.deleted_at is not null or n.name not in (username_key, coalesce(email_key, '')));
  if new.deleted_at is not null then
    return null;
  end if;
  -- Only what changes is checked, so that a person who lost a name in an upgrade can still be changed.
  if new.username is distinct from old.username then
    perform take_sign_in_name(username_key, new.id, 'users_username_key');
  end if;
  if new.email is distinct from old.email then
    perform take_sign_in_name(email_key, new.id, 'users_email_key');
  end if;
  return null;
end $$;
create or replace trigger users_take_names after insert on users
  for each row when (new.embed_tenant is null and new.deleted_at is null)
  execute function keep_sign_in_names();
create or replace trigger users_keep_names after update of username, email, deleted_at on users
  for each row when (old.embed_tenant is null and
    (new.username, new.email, new.deleted_at) is distinct from (old.username, old.email, old.deleted_at))
  execute function keep_sign_in_names();
