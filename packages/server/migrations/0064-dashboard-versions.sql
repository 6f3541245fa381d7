alter table dashboards add column unpublished_at timestamptz;
alter table dashboard_versions
  add column note text,
  add column published_by bigint references users (id) on delete set null;
create index dashboard_versions_by_publisher on dashboard_versions (published_by) where published_by is not null;
