-- Tells every server what has changed, so that it drops the cached values that depend on it. An empty subject concerns
-- all cached values. The notification arrives some time after the commit, so the transaction also notes its subjects:
-- the server that commits it (platform/db/database.ts) drops these values before it replies.
create or replace function tell_servers(subject text) returns void language plpgsql as $$
declare
  told text := coalesce(current_setting('oriel.told', true), '');
begin
  perform pg_notify('oriel_credentials', subject);
  if position(' ' || coalesce(nullif(subject, ''), '*') || ' ' in ' ' || told) > 0 then
    return;
  elsif length(told) < 4000 then
    perform set_config('oriel.told', told || coalesce(nullif(subject, ''), '*') || ' ', true);
  elsif told not like '%* ' then
    perform set_config('oriel.told', told || '* ', true);
  end if;
end $$;

-- The arguments of the trigger make the subject: ('tenant-settings'), or ('user:', 'id') for a text that ends in the
-- value of a column. If there is no subject, or the column is null, all cached values are dropped.
create or replace function notify_credentials() returns trigger language plpgsql as $$
declare
  subject text := coalesce(tg_argv[0], '');
  changed record;
begin
  if tg_nargs = 2 then
    if tg_op = 'DELETE' then changed := old; else changed := new; end if;
    subject := coalesce(subject || (to_jsonb(changed) ->> tg_argv[1]), '');
  end if;
  perform tell_servers(subject);
  return null;
end $$;
