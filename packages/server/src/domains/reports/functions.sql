-- Keeps the number of reports for each deployment and folder. A report may be deleted after its folder or deployment is
-- gone. Then there is no count to change.
create or replace function count_reports() returns trigger language plpgsql as $$
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
    select m.deployment_id, m.folder_id, pg_backend_pid() % 8, -m.n
    from (select o.deployment_id, f.id as folder_id, count(*) as n
          from old_rows o, lateral (values (coalesce(o.scope_folder_id, 0)), (-1)) f (id)
          where o.embed_tenant is null group by 1, 2) m
    where exists (select from deployments d where d.id = m.deployment_id)
      and (m.folder_id <= 0 or exists (select from folders f where f.id = m.folder_id))
    order by 1, 2
    on conflict (deployment_id, folder_id, slot) do update set count = c.count + excluded.count;
  else
    insert into report_counts as c (deployment_id, folder_id, slot, count)
    select m.deployment_id, m.folder_id, pg_backend_pid() % 8, m.n
    from (select r.deployment_id, f.id as folder_id, sum(r.n) as n
          from (select deployment_id, scope_folder_id, 1 as n from new_rows where embed_tenant is null
                union all
                select deployment_id, scope_folder_id, -1 from old_rows where embed_tenant is null) r,
               lateral (values (coalesce(r.scope_folder_id, 0)), (-1)) f (id)
          group by 1, 2 having sum(r.n) <> 0) m
    where m.folder_id <= 0 or exists (select from folders f where f.id = m.folder_id)
    order by 1, 2
    on conflict (deployment_id, folder_id, slot) do update set count = c.count + excluded.count;
  end if;
  return null;
end $$;
create or replace trigger reports_counted_in after insert on reports
  referencing new table as new_rows for each statement execute function count_reports();
create or replace trigger reports_counted_out after delete on reports
  referencing old table as old_rows for each statement execute function count_reports();
create or replace trigger reports_recounted after update on reports
  referencing old table as old_rows new table as new_rows for each statement execute function count_reports();

-- The counts of a folder or deployment are deleted with it.
create or replace function delete_report_counts() returns trigger language plpgsql as $$
begin
  if tg_table_name = 'folders' then
    delete from report_counts c using gone g where c.deployment_id = g.deployment_id and c.folder_id = g.id;
  else
    delete from report_counts c using gone g where c.deployment_id = g.id;
  end if;
  return null;
end $$;
create or replace trigger folders_uncounted after delete on folders
  referencing old table as gone for each statement execute function delete_report_counts();
create or replace trigger deployments_uncounted after delete on deployments
  referencing old table as gone for each statement execute function delete_report_counts();
