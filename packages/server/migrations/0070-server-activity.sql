-- What each process of the server says about its engines and its data sources. The newest report of a process replaces its
-- earlier one.
create table server_reports (
  process text primary key,
  engines jsonb not null,
  sources jsonb not null,
  seen_at timestamptz not null default now()
);

-- What each run of a process counted in a minute, for a day. `latency` counts requests by how long they took.
create table server_minutes (
  minute timestamptz not null,
  run text not null,
  requests bigint not null,
  errors bigint not null,
  latency bigint[] not null,
  sessions bigint not null,
  queries bigint not null,
  cached_queries bigint not null,
  connections integer not null,
  primary key (minute, run)
);
