-- Connections to servers that host git repositories. The token is sealed; see platform/secrets/box.ts.
create table git_installations (
  id bigint primary key generated always as identity,
  name text not null check (length(name) <= 255),
  kind text not null check (kind in ('github', 'gitlab', 'gitea', 'bitbucket', 'git')),
  url text not null check (length(url) <= 2048),
  username text check (length(username) <= 255),
  token_id uuid not null unique,
  token bytea not null,
  created_at timestamptz not null default now()
);

-- The repository that the data model of a deployment is one with.
create table git_connections (
  deployment_id bigint primary key,
  installation_id bigint not null references git_installations,
  repository text not null check (length(repository) <= 500),
  url text not null check (length(url) <= 2048),
  webhook_id text not null unique,
  -- Sealed; null until somebody makes one.
  webhook_secret bytea,
  -- Why the last try to bring both sides together failed.
  message text,
  checked_at timestamptz,
  -- Set while a job waits that will bring both sides together, and whether it must look at the host in any case.
  requested_at timestamptz,
  must_look boolean not null default false,
  created_at timestamptz not null default now()
);
create index git_connections_installation on git_connections (installation_id);

-- The newest commit of each branch that the repository was seen to have. It tells a push from a rewritten history.
create table git_remote_heads (
  deployment_id bigint not null references git_connections on delete cascade,
  branch_name text not null check (length(branch_name) <= 200),
  head text not null check (length(head) <= 40),
  primary key (deployment_id, branch_name)
);

-- Deliveries of webhooks that were received, so that one that is repeated does nothing.
create table git_deliveries (
  deployment_id bigint not null references git_connections on delete cascade,
  delivery_id text not null check (length(delivery_id) <= 200),
  received_at timestamptz not null default now(),
  primary key (deployment_id, delivery_id)
);
create index git_deliveries_received_at on git_deliveries (received_at);
