-- Syncs of data models with dbt projects.
create table model_sync_sources (
  -- A job removes the rows of a deleted deployment.
  deployment_id bigint primary key,
  settings json not null,
  -- The newest commit of generated files. It is no branch: branches merge it.
  generated_head text,
  updated_at timestamptz not null default now()
);

-- The files that dbt made, compressed.
create table model_sync_manifests (
  deployment_id bigint primary key,
  manifest bytea not null,
  catalog bytea,
  summary json not null,
  uploaded_at timestamptz not null default now()
);

create table model_syncs (
  id uuid primary key default gen_random_uuid(),
  deployment_id bigint not null,
  branch_id bigint references branches on delete set null,
  branch_name text not null,
  -- Who started it, for the commit and the audit log.
  user_id bigint references users on delete set null,
  api_key_id bigint,
  ip text,
  request_id text,
  job_id bigint not null,
  state text not null default 'running' check (state in ('running', 'completed', 'failed', 'cancelled')),
  error text,
  result json,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
-- One sync to a branch at a time.
create unique index model_syncs_running_key on model_syncs (branch_id) where state = 'running';
create index model_syncs_by_deployment on model_syncs (deployment_id, created_at);
create index model_syncs_by_branch on model_syncs (branch_id);
create index model_syncs_by_user on model_syncs (user_id);
