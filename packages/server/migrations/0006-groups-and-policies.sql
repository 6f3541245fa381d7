alter table users add column settings jsonb, add column tos_accepted jsonb;

create trigger user_settings_changed
  after update of settings, tos_accepted on users
  for each statement execute function notify_credentials();

-- That a deployment exists is remembered too.
create trigger deployments_deleted after delete on deployments
  for each statement execute function notify_credentials();

create table user_groups (
  id bigint generated always as identity primary key,
  name text not null unique,
  description text,
  created_at timestamptz not null default now()
);

create table user_group_members (
  group_id bigint not null references user_groups on delete cascade,
  user_id bigint not null references users on delete cascade,
  primary key (group_id, user_id)
);

create index user_group_members_user on user_group_members (user_id, group_id);

-- Who may do what with one resource: an action, given to one user, one group or one role.
create table resource_policies (
  id bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  resource_type text not null check (resource_type in ('Deployment', 'Folder', 'Workbook', 'Report')),
  resource_id bigint not null,
  user_id bigint references users on delete cascade,
  group_id bigint references user_groups on delete cascade,
  role_id bigint references roles on delete cascade,
  action text not null,
  -- 1 reads, 2 edits, 3 manages; 0 where the action is on a deployment.
  level smallint not null,
  created_at timestamptz not null default now(),
  check (num_nonnulls(user_id, group_id, role_id) = 1)
);

create unique index resource_policies_of_user on resource_policies (resource_type, resource_id, user_id) where user_id is not null;
create unique index resource_policies_of_group on resource_policies (resource_type, resource_id, group_id) where group_id is not null;
create unique index resource_policies_of_role on resource_policies (resource_type, resource_id, role_id) where role_id is not null;
-- What a caller may do with the rows of a page is looked up here.
create index resource_policies_on on resource_policies (resource_type, resource_id) include (user_id, group_id, role_id, level);
create index resource_policies_by_user on resource_policies (user_id, deployment_id, resource_type) include (resource_id, level) where user_id is not null;
create index resource_policies_by_group on resource_policies (group_id, deployment_id, resource_type) include (resource_id, level) where group_id is not null;
create index resource_policies_by_role on resource_policies (role_id, deployment_id, resource_type) include (resource_id, level) where role_id is not null;

-- Which deployments somebody can read is part of their verified credential.
create trigger user_group_members_changed
  after insert or delete or update on user_group_members
  for each statement execute function notify_credentials();
create trigger deployment_policies_set
  after insert or update on resource_policies
  for each row when (new.resource_type = 'Deployment') execute function notify_credentials();
create trigger deployment_policies_cleared
  after delete on resource_policies
  for each row when (old.resource_type = 'Deployment') execute function notify_credentials();
