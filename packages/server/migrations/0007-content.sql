create extension if not exists pg_trgm;

create table folders (
  id bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  parent_id bigint references folders on delete cascade,
  -- The ids from the root down to the folder itself.
  path bigint[] not null,
  name text not null,
  -- Lower-cased by the server, the same on every database.
  name_key text collate "C" not null,
  position int not null,
  embed_tenant text,
  user_id bigint not null references users,
  created_by bigint references users on delete set null,
  updated_by bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create index folders_by_position on folders (deployment_id, position, id);
create index folders_in_parent on folders (parent_id, position, id);
create index folders_below on folders using gin (path) with (fastupdate = off);
create index folders_by_owner on folders (user_id);

create table workbooks (
  id bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  folder_id bigint references folders on delete cascade,
  name text not null,
  name_key text collate "C" not null,
  slug text,
  meta jsonb not null default '{}',
  calculated_fields jsonb not null default '{}',
  dashboard_draft jsonb,
  dashboard_published jsonb,
  version int not null default 1,
  embed_tenant text,
  user_id bigint not null references users,
  created_by bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create unique index workbooks_slug_key on workbooks (deployment_id, slug);
create index workbooks_by_created on workbooks (deployment_id, created_at, id);
create index workbooks_in_folder on workbooks (folder_id, created_at, id);
create index workbooks_by_owner on workbooks (user_id);

create table reports (
  id bigint generated always as identity primary key,
  deployment_id bigint not null references deployments on delete cascade,
  public_id text not null unique,
  -- Where it lies: in a workbook, directly in a folder, or at the root.
  folder_id bigint references folders on delete cascade,
  workbook_id bigint references workbooks on delete cascade,
  -- The folder whose policies reach it: its own, or that of its workbook.
  scope_folder_id bigint references folders on delete cascade,
  name text not null,
  name_key text collate "C" not null,
  title text,
  description text,
  -- Name, title and description, lower-cased by the server and parted by a character that none of them can hold.
  search_text text not null,
  source text,
  external_workbook_id text,
  result_location text,
  end_result_cell text,
  sql_query text,
  json_query text,
  pivot_items jsonb,
  meta jsonb,
  version int not null default 1,
  embed_tenant text,
  user_id bigint not null references users,
  created_by bigint references users on delete set null,
  refreshed_by bigint references users on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (workbook_id is null or folder_id is null)
);

-- Every list pages by key: each sort, in each place that a list can be of.
create index reports_by_created on reports (deployment_id, created_at, id) where embed_tenant is null;
create index reports_by_updated on reports (deployment_id, updated_at, id) where embed_tenant is null;
create index reports_by_name on reports (deployment_id, name_key, id) where embed_tenant is null;
create index reports_by_id on reports (deployment_id, id) where embed_tenant is null;
create index reports_in_folder_by_created on reports (folder_id, created_at, id) include (embed_tenant);
create index reports_in_folder_by_updated on reports (folder_id, updated_at, id);
create index reports_in_folder_by_name on reports (folder_id, name_key, id);
create index reports_in_workbook_by_created on reports (workbook_id, created_at, id) include (embed_tenant);
create index reports_in_workbook_by_updated on reports (workbook_id, updated_at, id);
create index reports_in_workbook_by_name on reports (workbook_id, name_key, id);
create index reports_under_folder_by_created on reports (scope_folder_id, created_at, id);
create index reports_under_folder_by_updated on reports (scope_folder_id, updated_at, id);
create index reports_under_folder_by_name on reports (scope_folder_id, name_key, id);
create index reports_of_owner_by_created on reports (user_id, deployment_id, created_at, id);
create index reports_of_owner_by_updated on reports (user_id, deployment_id, updated_at, id);
create index reports_of_owner_by_name on reports (user_id, deployment_id, name_key, id);
create index reports_of_tenant on reports (deployment_id, embed_tenant, created_at, id) where embed_tenant is not null;
create index reports_by_external_workbook on reports (external_workbook_id) where external_workbook_id is not null;
create index reports_search on reports using gin (search_text gin_trgm_ops);

create table report_placements (
  report_id bigint not null references reports on delete cascade,
  external_workbook_id text not null,
  result_location text not null,
  end_result_cell text,
  created_at timestamptz not null default now(),
  primary key (report_id, external_workbook_id)
);

create index report_placements_by_workbook on report_placements (external_workbook_id, report_id);

create table report_views (
  user_id bigint not null references users on delete cascade,
  report_id bigint not null references reports on delete cascade,
  viewed_at timestamptz not null,
  primary key (user_id, report_id)
);

create index report_views_by_time on report_views (user_id, viewed_at, report_id);
create index report_views_of_report on report_views (report_id);

-- Policies go with what they are about, however it is deleted.
create function delete_policies() returns trigger language plpgsql as $$
begin
  delete from resource_policies p using gone g where p.resource_type = tg_argv[0] and p.resource_id = g.id;
  return null;
end $$;

create trigger folders_deleted after delete on folders
  referencing old table as gone for each statement execute function delete_policies('Folder');
create trigger workbooks_deleted after delete on workbooks
  referencing old table as gone for each statement execute function delete_policies('Workbook');
create trigger reports_deleted after delete on reports
  referencing old table as gone for each statement execute function delete_policies('Report');

-- How many reports of the main workspace there are under each folder (0 for none), and in all (-1). Spread over
-- slots, so that parallel writers seldom wait for one another.
create table report_counts (
  deployment_id bigint not null,
  folder_id bigint not null,
  slot int not null,
  count bigint not null,
  primary key (deployment_id, folder_id, slot)
);

create function count_reports() returns trigger language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    insert into report_counts as c (deployment_id, folder_id, slot, count)
    select n.deployment_id, f.id, pg_backend_pid() % 8, count(*)
    from new_rows n, lateral (values (coalesce(n.scope_folder_id, 0)), (-1)) f (id)
    where n.embed_tenant is null
    group by 1, 2 order by 1, 2
    on conflict (deployment_id, folder_id, slot) do update set count = c.count + excluded.count;
  elsif tg_op = 'DELETE' then
    insert into report_counts as c (deployment_id, folder_id, slot, count)
    select o.deployment_id, f.id, pg_backend_pid() % 8, -count(*)
    from old_rows o, lateral (values (coalesce(o.scope_folder_id, 0)), (-1)) f (id)
    where o.embed_tenant is null
    group by 1, 2 order by 1, 2
    on conflict (deployment_id, folder_id, slot) do update set count = c.count + excluded.count;
  else
    insert into report_counts as c (deployment_id, folder_id, slot, count)
    select m.deployment_id, f.id, pg_backend_pid() % 8, sum(m.n)
    from (select deployment_id, scope_folder_id, 1 as n from new_rows where embed_tenant is null
          union all
          select deployment_id, scope_folder_id, -1 from old_rows where embed_tenant is null) m,
         lateral (values (coalesce(m.scope_folder_id, 0)), (-1)) f (id)
    group by 1, 2 having sum(m.n) <> 0 order by 1, 2
    on conflict (deployment_id, folder_id, slot) do update set count = c.count + excluded.count;
  end if;
  return null;
end $$;

create trigger reports_counted_in after insert on reports
  referencing new table as new_rows for each statement execute function count_reports();
create trigger reports_counted_out after delete on reports
  referencing old table as old_rows for each statement execute function count_reports();
create trigger reports_recounted after update on reports
  referencing old table as old_rows new table as new_rows for each statement execute function count_reports();
