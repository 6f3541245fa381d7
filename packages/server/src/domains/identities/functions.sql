-- A deleted user is hidden first and removed later. Their identity is free at once.
create or replace function end_identities_of_user() returns trigger language plpgsql as $$
begin
  delete from identities where user_id = new.id;
  return null;
end $$;
create or replace trigger users_end_identities after update of deleted_at on users
  for each row when (new.deleted_at is not null and old.deleted_at is null)
  execute function end_identities_of_user();
