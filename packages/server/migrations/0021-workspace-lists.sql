-- The lists of the workspace read what they show, and not everything there is in the deployment: each order has its
-- index, for the root and for a folder. What belongs to embed tenants is kept apart.
create index reports_at_root_by_created on reports (deployment_id, created_at, id)
  where folder_id is null and workbook_id is null and embed_tenant is null;
create index reports_at_root_by_updated on reports (deployment_id, updated_at, id)
  where folder_id is null and workbook_id is null and embed_tenant is null;
create index reports_at_root_by_name on reports (deployment_id, name_key, id)
  where folder_id is null and workbook_id is null and embed_tenant is null;
create index reports_at_root_by_id on reports (deployment_id, id)
  where folder_id is null and workbook_id is null and embed_tenant is null;
create index reports_of_owner_at_root on reports (user_id, deployment_id, id)
  where folder_id is null and workbook_id is null;
create index reports_in_folder_by_id on reports (folder_id, id);

create index workbooks_in_main_by_created on workbooks (deployment_id, created_at, id) where embed_tenant is null;
create index workbooks_in_main_by_updated on workbooks (deployment_id, updated_at, id) where embed_tenant is null;
create index workbooks_in_main_by_name on workbooks (deployment_id, name_key, id) where embed_tenant is null;
create index workbooks_of_tenant_by_created on workbooks (deployment_id, embed_tenant, created_at, id)
  where embed_tenant is not null;
create index workbooks_at_root_by_created on workbooks (deployment_id, created_at, id)
  where folder_id is null and embed_tenant is null;
create index workbooks_at_root_by_updated on workbooks (deployment_id, updated_at, id)
  where folder_id is null and embed_tenant is null;
create index workbooks_at_root_by_name on workbooks (deployment_id, name_key, id)
  where folder_id is null and embed_tenant is null;
create index workbooks_at_root_by_id on workbooks (deployment_id, id)
  where folder_id is null and embed_tenant is null;
create index workbooks_in_folder_by_updated on workbooks (folder_id, updated_at, id);
create index workbooks_in_folder_by_name on workbooks (folder_id, name_key, id);
create index workbooks_in_folder_by_id on workbooks (folder_id, id);
create index workbooks_of_owner on workbooks (user_id, deployment_id, created_at, id);
create index workbooks_of_owner_at_root on workbooks (user_id, deployment_id, id) where folder_id is null;
create index workbooks_search on workbooks using gin (name_key gin_trgm_ops);
drop index if exists workbooks_by_owner;

create index folders_in_main_by_position on folders (deployment_id, position, id) where embed_tenant is null;
create index folders_in_main_by_created on folders (deployment_id, created_at, id) where embed_tenant is null;
create index folders_in_main_by_updated on folders (deployment_id, updated_at, id) where embed_tenant is null;
create index folders_in_main_by_name on folders (deployment_id, name_key, id) where embed_tenant is null;
create index folders_of_tenant_by_position on folders (deployment_id, embed_tenant, position, id)
  where embed_tenant is not null;
create index folders_at_root_by_position on folders (deployment_id, position, id)
  where parent_id is null and embed_tenant is null;
create index folders_at_root_by_created on folders (deployment_id, created_at, id)
  where parent_id is null and embed_tenant is null;
create index folders_at_root_by_updated on folders (deployment_id, updated_at, id)
  where parent_id is null and embed_tenant is null;
create index folders_at_root_by_name on folders (deployment_id, name_key, id)
  where parent_id is null and embed_tenant is null;
create index folders_at_root_by_id on folders (deployment_id, id)
  where parent_id is null and embed_tenant is null;
create index folders_of_owner on folders (user_id, deployment_id, position, id);
create index folders_of_owner_at_root on folders (user_id, deployment_id, id) where parent_id is null;
create index folders_search on folders using gin (name_key gin_trgm_ops);
drop index if exists folders_by_owner;
