-- The dashboard of a workbook. The row is there before the first version if embed access was set first.
create table dashboards (
  id bigint generated always as identity primary key,
  workbook_id bigint not null unique references workbooks on delete cascade,
  public_id text not null unique,
  allow_embed boolean not null default false,
  -- For embed tenants that have no entry in dashboard_embed_access.
  all_embed_users text not null default 'none' check (all_embed_users in ('read', 'none')),
  -- The number of the newest version; 0 before the first.
  version_number int not null default 0,
  -- Counts every change, for entity tags.
  revision int not null default 1,
  created_by bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index dashboards_by_creator on dashboards (created_by) where created_by is not null;

create table dashboard_versions (
  id bigint generated always as identity primary key,
  dashboard_id bigint not null references dashboards on delete cascade,
  number int not null,
  title text,
  description text,
  config jsonb not null,
  -- The reports of the charts as they were, each with its source and what a page draws.
  snapshots jsonb not null,
  bytes int not null,
  created_at timestamptz not null default now(),
  unique (dashboard_id, number)
);

-- What embed tenants may do that have an entry of their own.
create table dashboard_embed_access (
  dashboard_id bigint not null references dashboards on delete cascade,
  embed_tenant text not null references embed_tenants (name) on update cascade,
  action text not null check (action in ('read', 'none')),
  primary key (dashboard_id, embed_tenant)
);
create index dashboard_embed_access_by_tenant on dashboard_embed_access (embed_tenant);

alter table resource_policies
  drop constraint resource_policies_resource_type_check,
  add constraint resource_policies_resource_type_check
    check (resource_type in ('Deployment', 'Folder', 'Workbook', 'Report', 'Dashboard'));
