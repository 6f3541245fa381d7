-- The number of folders, workbooks and reports of each embed tenant, by content key. Each connection adds to one of eight
-- rows, so that deletions seldom wait for each other.
create table embed_content_counts (
  content_key text not null,
  slot int not null,
  count bigint not null,
  primary key (content_key, slot)
);
insert into embed_content_counts (content_key, slot, count)
select embed_tenant, 0, count(*) from (
  select embed_tenant from folders union all select embed_tenant from workbooks union all select embed_tenant from reports) content
where embed_tenant is not null group by 1;

alter table tenant_settings add column embed_content_limit int not null default 100000 check (embed_content_limit >= 0);
