-- The audit log in partitions by month: retention drops a month as a whole, and never deletes row by row.
alter table audit_log rename to audit_log_before;
alter table audit_log_before drop constraint audit_log_pkey;
drop index audit_log_created_at, audit_log_resource;

create sequence audit_log_ids as bigint;

create table audit_log (
  -- A transaction gets its own number before the entry gets its id. Sealing relies on this: once all transactions up to
  -- some number have ended, no entry with an earlier id can come.
  id bigint not null default (case when pg_current_xact_id() is not null then nextval('audit_log_ids') end),
  created_at timestamptz not null default now(),
  operation text not null,
  resource_type text not null,
  resource_id text not null,
  deployment_id bigint,
  embed_tenant text,
  user_id bigint,
  api_key_id bigint,
  ip text,
  request_id text,
  before jsonb,
  after jsonb,
  primary key (id, created_at)
) partition by range (created_at);

-- One for each filter of the list, in the order of the list.
create index audit_log_by_time on audit_log (created_at, id);
create index audit_log_by_operation on audit_log (operation, created_at, id);
create index audit_log_by_resource_type on audit_log (resource_type, created_at, id);
create index audit_log_by_resource_id on audit_log (resource_id, created_at, id);
create index audit_log_by_deployment on audit_log (deployment_id, created_at, id) where deployment_id is not null;
create index audit_log_by_embed_tenant on audit_log (embed_tenant, created_at, id) where embed_tenant is not null;
create index audit_log_by_user on audit_log (user_id, created_at, id) where user_id is not null;
create index audit_log_by_api_key on audit_log (api_key_id, created_at, id) where api_key_id is not null;
create index audit_log_by_request on audit_log (request_id, created_at, id) where request_id is not null;

-- Takes entries of months that have no partition yet, so that no insert fails; `make_audit_months` moves them.
create table audit_log_default partition of audit_log default;

-- The partitions, and those that retention has dropped.
create table audit_log_months (
  month date primary key,
  dropped_at timestamptz,
  -- How many entries the dropped month had, and a code that only a server can make.
  entries bigint,
  mac bytea
);

do $$
declare
  first date;
begin
  for first in
    select date_trunc('month', created_at at time zone 'UTC')::date from audit_log_before
    union
    select (date_trunc('month', now() at time zone 'UTC') + n * interval '1 month')::date from generate_series(0, 2) n
  loop
    execute format('create table audit_log_%s partition of audit_log for values from (%L) to (%L)',
                   to_char(first, 'YYYY_MM'), first || ' 00:00:00+00',
                   (first + interval '1 month')::date || ' 00:00:00+00');
    insert into audit_log_months (month) values (first);
  end loop;
end $$;

insert into audit_log (id, created_at, operation, resource_type, resource_id, deployment_id, embed_tenant, user_id,
                       api_key_id, ip, request_id, before, after)
select id, created_at, operation, resource_type, resource_id, deployment_id,
       case resource_type when 'embedTenant' then resource_id
                          else coalesce(after->>'embedTenantName', before->>'embedTenantName') end,
       user_id, api_key_id, ip, request_id, before, after
from audit_log_before;
select setval('audit_log_ids', coalesce(max(id), 0) + 1, false) from audit_log;
drop table audit_log_before;

-- One row: the chain of seals. `mac` covers its other columns, except the last two.
create table audit_log_chain (
  singleton boolean primary key default true check (singleton),
  -- Signs the seals. It is sealed itself, with the secret of the installation.
  key bytea,
  -- All entries with ids up to this one are in a seal.
  sealed_to bigint not null default 0,
  -- The newest seal.
  head_no bigint not null default 0,
  head_mac bytea,
  -- The last seal before those that are left. Earlier seals were removed with their months.
  anchor_no bigint not null default 0,
  anchor_mac bytea,
  mac bytea,
  -- Entries with ids up to this one can be sealed when all transactions before this one have ended.
  next_to bigint,
  next_after xid8
);
insert into audit_log_chain default values;

-- Each seals up to a thousand entries of one month. `mac` covers the seal and the `mac` of the seal before it.
create table audit_log_seals (
  no bigint primary key,
  month date not null,
  ids bigint[] not null,
  digests bytea[] not null,
  sealed_at timestamptz not null,
  mac bytea not null
);
create index audit_log_seals_by_month on audit_log_seals (month, no);
