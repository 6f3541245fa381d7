-- The data model of each deployment, under git's history. The objects themselves are in git_objects.
create table data_models (
  deployment_id bigint primary key,
  -- When something was last left behind that no branch refers to, and when that was last removed.
  changed_at timestamptz not null default now(),
  swept_at timestamptz not null default now()
);

create table branches (
  id bigint generated always as identity primary key,
  deployment_id bigint not null,
  name text not null,
  -- Without one, the parent is the deploy branch.
  parent_id bigint references branches on delete set null,
  -- The newest commit.
  head text not null,
  -- The tree with the uncommitted changes, if there are any.
  working_tree text,
  -- The tree that the last upload left.
  uploaded_tree text,
  is_staging boolean not null default false,
  -- Whose own branch for dev mode this is.
  owner_id bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint branches_name_key unique (deployment_id, name)
);
create unique index branches_owner_key on branches (deployment_id, owner_id) where owner_id is not null;
create index branches_by_owner on branches (owner_id) where owner_id is not null;
create index branches_by_parent on branches (parent_id) where parent_id is not null;

create table dev_modes (
  branch_id bigint not null references branches on delete cascade,
  user_id bigint not null references users on delete cascade,
  since timestamptz not null default now(),
  primary key (branch_id, user_id)
);
create index dev_modes_by_user on dev_modes (user_id, since desc);

-- Deployments that exist begin with an empty data model. The hash is the one that git computes for this commit.
insert into git_objects (deployment_id, hash, type, content, parents)
select d.id, o.hash, o.type, o.content, o.parents
from deployments d cross join (values
  ('\x4b825dc642cb6eb9a060e54bf8d69288fbee4904'::bytea, 'tree', ''::bytea, null::bytea[]),
  ('\x6866c646ffe02671360854560ecb0fa3ebcaf98b'::bytea, 'commit', convert_to(
    'tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904' || chr(10) ||
    'author Oriel <oriel@localhost> 1767225600 +0000' || chr(10) ||
    'committer Oriel <oriel@localhost> 1767225600 +0000' || chr(10) || chr(10) ||
    'Start the data model' || chr(10), 'utf8'), '{}'::bytea[])) as o (hash, type, content, parents);
insert into data_models (deployment_id) select id from deployments;
insert into branches (deployment_id, name, head)
select id, deploy_branch_name, '6866c646ffe02671360854560ecb0fa3ebcaf98b' from deployments;
