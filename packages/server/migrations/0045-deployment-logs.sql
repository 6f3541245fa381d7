-- What happened in a deployment, for its developers. Only the newest lines of each deployment are kept.
create table deployment_log_lines (
  id bigint generated always as identity primary key,
  -- A job removes the lines of a deleted deployment.
  deployment_id bigint not null,
  source text not null check (source in ('production', 'dev')),
  container text not null,
  -- The process that wrote it.
  pod text not null,
  message text not null constraint deployment_log_lines_message_max_4_kb check (octet_length(message) <= 4096),
  created_at timestamptz not null
);
create index deployment_log_lines_by_deployment on deployment_log_lines (deployment_id, id);

-- The processes of this installation that run now, by their own reports.
create table server_processes (
  name text primary key,
  type text not null check (type in ('web', 'worker')),
  containers text[] not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  -- How often it was started again after it had ended without a farewell.
  restarts int not null default 0
);
