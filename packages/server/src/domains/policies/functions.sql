-- Deletes the policies on a folder, workbook, report or deployment together with it, for every way to delete it.
create or replace function delete_policies() returns trigger language plpgsql as $$
begin
  delete from resource_policies p using gone g where p.resource_type = tg_argv[0] and p.resource_id = g.id;
  return null;
end $$;
create or replace trigger folders_deleted after delete on folders
  referencing old table as gone for each statement execute function delete_policies('Folder');
create or replace trigger workbooks_deleted after delete on workbooks
  referencing old table as gone for each statement execute function delete_policies('Workbook');
create or replace trigger deployments_deleted_policies after delete on deployments
  referencing old table as gone for each statement execute function delete_policies('Deployment');
create or replace trigger reports_deleted after delete on reports
  referencing old table as gone for each statement execute function delete_policies('Report');
create or replace trigger dashboards_deleted after delete on dashboards
  referencing old table as gone for each statement execute function delete_policies('Dashboard');
