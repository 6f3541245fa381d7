create table users (
  id bigint generated always as identity primary key,
  username text not null,
  email text not null,
  password_hash text,
  first_name text,
  title text,
  picture text,
  external_id text,
  is_deactivated boolean not null default false,
  notifications jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_login timestamptz
);

create unique index users_username_key on users (username);
create unique index users_email_key on users (lower(email));

create table roles (
  id bigint generated always as identity primary key,
  name text not null unique,
  description text,
  actions text[] not null,
  is_built_in boolean not null default false,
  created_at timestamptz not null default now()
);

create table user_roles (
  user_id bigint not null references users on delete cascade,
  role_id bigint not null references roles on delete cascade,
  primary key (user_id, role_id)
);

create index user_roles_role on user_roles (role_id);

insert into roles (name, description, actions, is_built_in) values
  ('Viewer', 'Looks at what is shared', '{DeploymentRead,AIBIView}', true),
  ('Explorer', 'Asks questions and creates content',
   '{DeploymentRead,AIBIView,AIBIExplore,PlaygroundRead,SchemaRead,SqlRunnerRead,DataAssetsRead,DownloadData}', true),
  ('Developer', 'Models data and manages content',
   '{DeploymentRead,AIBIView,AIBIExplore,PlaygroundRead,SchemaRead,SqlRunnerRead,DataAssetsRead,DownloadData,AIBIDevelop,SchemaUpdate,SchemaUpdateDevBranches,PreAggregationBuild,DeploymentUpdate,ReportManage,WorkbookManage,FolderManage}', true),
  ('Admin', 'May do everything', '{All}', true);

create table api_keys (
  id bigint generated always as identity primary key,
  name text not null,
  user_id bigint not null references users on delete cascade,
  -- SHA-256 of the key. Keys are long and random, so a slow hash would add nothing.
  key_hash bytea not null unique,
  -- Null reaches every deployment.
  deployment_ids bigint[] check (cardinality(deployment_ids) > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);

create index api_keys_user on api_keys (user_id);

-- Servers keep verified credentials and their users in memory. Whatever can make one of them wrong tells every server.
create function notify_credentials() returns trigger language plpgsql as $$
begin
  notify oriel_credentials;
  return null;
end $$;

create trigger api_keys_changed
  after delete or update of user_id, key_hash, deployment_ids, expires_at on api_keys
  for each statement execute function notify_credentials();
create trigger users_changed
  after delete or update of username, email, first_name, title, picture, external_id, is_deactivated, notifications on users
  for each statement execute function notify_credentials();
create trigger roles_changed
  after delete or update of actions on roles
  for each statement execute function notify_credentials();
create trigger user_roles_changed
  after insert or delete or update on user_roles
  for each statement execute function notify_credentials();
