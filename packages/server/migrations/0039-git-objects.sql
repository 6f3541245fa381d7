-- Files, directories and commits of the data models, in git's own format. The objects of one deployment are never
-- shared with another. There is no foreign key, because a job removes the objects of a deleted deployment later.
create table git_objects (
  deployment_id bigint not null,
  hash bytea not null,
  type text not null check (type in ('blob', 'tree', 'commit')),
  content bytea not null,
  -- For blobs: the SHA-1 of the plain bytes. Git's own hash is over a header too.
  digest bytea,
  -- For commits.
  parents bytea[],
  -- Also renewed when an object that exists is written again, so that the sweep does not take it from who needs it.
  written_at timestamptz not null default now(),
  primary key (deployment_id, hash)
);
