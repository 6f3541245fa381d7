-- Builds of the branches of data models.
create table builds (
  id bigint generated always as identity primary key,
  -- A job removes the builds of a deleted deployment.
  deployment_id bigint not null,
  branch_id bigint not null references branches on delete cascade,
  status text not null check (status in ('waiting', 'building', 'built', 'failed', 'cancelled')),
  -- What is built. Unknown before the start, because a build takes the newest state of its branch.
  commit_hash text,
  tree_hash text,
  -- The job that builds it, and how often it was begun.
  job_id bigint,
  attempts int not null default 0,
  -- Why it failed or was cancelled, if that is not in `errors`.
  reason text,
  errors json,
  warnings json,
  cubes_count int,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz
);
-- At most one build of a branch waits, and at most one of a deployment runs.
create unique index builds_waiting_key on builds (branch_id) where status = 'waiting';
create unique index builds_building_key on builds (deployment_id) where status = 'building';
create index builds_by_branch on builds (branch_id, id);
create index builds_by_deployment on builds (deployment_id, id);
