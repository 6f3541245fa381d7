-- Tells every server the subject of a change, so that it drops the cached values that depend on it. The arguments of
-- the trigger make the subject: ('tenant-settings'), or ('user:', 'id') for a text that ends in the value of a column.
-- If there is no subject, or the column is null, all cached values are dropped.
create or replace function notify_credentials() returns trigger language plpgsql as $$
declare
  subject text := coalesce(tg_argv[0], '');
  changed record;
begin
  if tg_nargs = 2 then
    if tg_op = 'DELETE' then changed := old; else changed := new; end if;
    subject := coalesce(subject || (to_jsonb(changed) ->> tg_argv[1]), '');
  end if;
  perform pg_notify('oriel_credentials', subject);
  return null;
end $$;
