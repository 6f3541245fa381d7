-- A device that was approved, but has no tokens yet, is treated like a session: it ends with the password of the person.
create or replace function end_devices_of_user() returns trigger language plpgsql as $$
begin
  delete from device_codes where user_id = new.id;
  return null;
end $$;
create or replace trigger users_end_devices after update of password_hash, is_deactivated on users
  for each row when (new.password_hash is distinct from old.password_hash or (new.is_deactivated and not old.is_deactivated))
  execute function end_devices_of_user();
