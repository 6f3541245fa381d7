-- Uploads of a data model. Nothing of an upload is visible before it is finished.
create table uploads (
  id uuid primary key default gen_random_uuid(),
  deployment_id bigint not null,
  -- An upload without its branch or its user has ended.
  branch_id bigint references branches on delete set null,
  user_id bigint references users on delete set null,
  -- The state of the branch at the start: the upload can be finished only if it is still the same.
  base_head text not null,
  base_working_tree text,
  is_live boolean not null,
  -- The folder that the paths are relative to.
  root text not null,
  files int not null default 0,
  bytes bigint not null default 0,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index uploads_by_branch on uploads (branch_id, created_at);
create index uploads_by_deployment on uploads (deployment_id);
create index uploads_by_user on uploads (user_id);
create index uploads_by_expiry on uploads (expires_at);

create table upload_files (
  upload_id uuid not null references uploads on delete cascade,
  path text not null,
  -- The content, in git_objects.
  blob text not null,
  -- The SHA-1 of the plain bytes.
  digest text not null,
  bytes int not null,
  primary key (upload_id, path)
);
