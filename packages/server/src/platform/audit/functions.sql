-- Writes the audit entry of something that minting created or changed.
create or replace function audit_minting(origin jsonb, noun text, resource_id text, before jsonb, after jsonb) returns void
language sql as $$
  insert into audit_log (operation, resource_type, resource_id, embed_tenant, user_id, api_key_id, ip, request_id, before, after)
  select 'generateSession', noun, resource_id, origin->>'embedTenantName', (origin->>'userId')::bigint,
         (origin->>'apiKeyId')::bigint, origin->>'ip', origin->>'requestId', before, after
  from tenant_settings where audit_log_enabled
$$;

-- The log is append-only. Whoever may drop this trigger can still change entries, and verification shows it.
create or replace function refuse_audit_change() returns trigger language plpgsql as $$
begin
  raise exception 'the audit log is append-only';
end $$;
create or replace trigger audit_log_append_only before update or delete on audit_log
  for each row execute function refuse_audit_change();
create or replace trigger audit_log_no_truncate before truncate on audit_log
  for each statement execute function refuse_audit_change();

-- Makes the partitions of this month and the next two, and of months whose entries are in the default partition. Returns
-- how many it made. Entries move with their table and by insertion, because none may be deleted.
create or replace function make_audit_months() returns integer language plpgsql as $$
declare
  has_strays boolean;
  stray_months date[];
  first date;
  made integer := 0;
begin
  -- One at a time.
  perform from audit_log_chain for update;
  has_strays := exists (select from audit_log_default);
  if has_strays then
    alter table audit_log detach partition audit_log_default;
    alter table audit_log_default rename to audit_log_strays;
    select array_agg(distinct date_trunc('month', created_at at time zone 'UTC')::date) into stray_months
    from audit_log_strays;
  end if;
  for first in
    select (date_trunc('month', now() at time zone 'UTC') + n * interval '1 month')::date from generate_series(0, 2) n
    union select unnest(stray_months)
    except select month from audit_log_months
  loop
    -- Attaching does not stop writers, as creating a partition would.
    execute format('create table audit_log_%s (like audit_log including defaults)', to_char(first, 'YYYY_MM'));
    execute format('alter table audit_log attach partition audit_log_%s for values from (%L) to (%L)',
                   to_char(first, 'YYYY_MM'), first || ' 00:00:00+00',
                   (first + interval '1 month')::date || ' 00:00:00+00');
    insert into audit_log_months (month) values (first);
    made := made + 1;
  end loop;
  if has_strays then
    create table audit_log_default partition of audit_log default;
    -- Entries of a month that was dropped are as old as those that were dropped with it.
    insert into audit_log select s.* from audit_log_strays s
    where date_trunc('month', s.created_at at time zone 'UTC') not in (
      select month from audit_log_months where dropped_at is not null);
    drop table audit_log_strays;
  end if;
  return made;
end $$;

-- For a lost secret key (docs/operating.md): without it, the key of the seals cannot be opened again. All entries that
-- are left get new seals, and a new entry says so. Dropped months are forgotten, because only the old key proves them.
create or replace function restart_audit_seals() returns void language sql as $$
  insert into audit_log (operation, resource_type, resource_id, before)
  select 'restartAuditSeals', 'auditLogSeals', 'all',
         jsonb_build_object('newestSeal', head_no || ':' || encode(head_mac, 'hex'))
  from audit_log_chain, tenant_settings where audit_log_enabled;
  delete from audit_log_seals;
  delete from audit_log_months where dropped_at is not null;
  delete from audit_log_chain;
  insert into audit_log_chain default values;
$$;
