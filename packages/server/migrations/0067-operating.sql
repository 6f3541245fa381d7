-- Queries that run for a while, written by the process that answers them, so that other processes can list and end them.
create table running_queries (
  id text primary key,
  process text not null,
  deployment_id bigint not null,
  user_id bigint,
  embed_tenant text,
  api_key_id bigint,
  kind text not null,
  query text not null,
  is_running boolean not null,
  started_at timestamptz not null,
  seen_at timestamptz not null default now(),
  is_cancelled boolean not null default false
);

create table slow_queries (
  id bigint generated always as identity primary key,
  process text not null,
  deployment_id bigint not null,
  user_id bigint,
  embed_tenant text,
  api_key_id bigint,
  kind text not null,
  query text not null,
  started_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  error_code text,
  row_count bigint,
  is_cached boolean not null
);
create index slow_queries_by_deployment on slow_queries (deployment_id, id);
create index slow_queries_by_embed_tenant on slow_queries (embed_tenant, id) where embed_tenant is not null;
create index slow_queries_by_user on slow_queries (user_id, id);

-- Each run of a process writes what it has counted itself on a day, so that a write that is repeated counts nothing twice.
-- The empty run holds what was put together from all runs. The empty embed tenant is the account itself.
create table usage_counters (
  day date not null,
  embed_tenant text not null,
  run text not null,
  sessions bigint not null default 0,
  viewers bigint not null default 0,
  queries bigint not null default 0,
  cached_queries bigint not null default 0,
  result_rows bigint not null default 0,
  primary key (day, embed_tenant, run)
);
create index usage_counters_by_embed_tenant on usage_counters (embed_tenant, day);

-- Who is counted among the viewers of a day, until the runs of that day are put together.
create table usage_viewers (
  day date not null,
  embed_tenant text not null,
  user_id bigint not null,
  primary key (day, embed_tenant, user_id)
);

create index jobs_by_deployment_and_id on jobs ((payload ->> 'deploymentId'), id);

alter table installation add column last_backup_at timestamptz;
