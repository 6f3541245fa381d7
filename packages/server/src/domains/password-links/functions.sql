-- A link is for the password that the user has now, and for an active user.
create or replace function end_links_of_user() returns trigger language plpgsql as $$
begin
  delete from password_links where user_id = new.id;
  return null;
end $$;
create or replace trigger users_end_links after update of password_hash, is_deactivated on users
  for each row when (ends_access(old.password_hash, new.password_hash, old.is_deactivated, new.is_deactivated))
  execute function end_links_of_user();
