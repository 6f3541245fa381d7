-- New content needs an existing deployment. This is not a foreign key, because a job removes the content of a deleted
-- deployment later. The lock is the one that a foreign key would take.
create or replace function require_deployment() returns trigger language plpgsql as $$
declare
  missing bigint;
begin
  perform from deployments where id in (select deployment_id from new_rows) for key share;
  select n.deployment_id into missing from new_rows n
  where not exists (select from deployments d where d.id = n.deployment_id) limit 1;
  if missing is not null then
    raise exception 'there is no deployment %', missing
      using errcode = 'OR404', detail = 'deployment_not_found';
  end if;
  return null;
end $$;
create or replace trigger folders_need_deployment after insert on folders
  referencing new table as new_rows for each statement execute function require_deployment();
create or replace trigger workbooks_need_deployment after insert on workbooks
  referencing new table as new_rows for each statement execute function require_deployment();
create or replace trigger reports_need_deployment after insert on reports
  referencing new table as new_rows for each statement execute function require_deployment();
create or replace trigger resource_policies_need_deployment after insert on resource_policies
  referencing new table as new_rows for each statement execute function require_deployment();
create or replace trigger git_objects_need_deployment after insert on git_objects
  referencing new table as new_rows for each statement execute function require_deployment();
create or replace trigger data_models_need_deployment after insert on data_models
  referencing new table as new_rows for each statement execute function require_deployment();
create or replace trigger branches_need_deployment after insert on branches
  referencing new table as new_rows for each statement execute function require_deployment();
create or replace trigger uploads_need_deployment after insert on uploads
  referencing new table as new_rows for each statement execute function require_deployment();

-- A deployment that was created without a deploy mode gets it from what comes first: an upload, or dev mode. Returns the
-- mode that it has then.
create or replace function settle_deploy_mode(deployment bigint, mode text) returns text language sql as $$
  update deployments set deploy_mode = mode where id = deployment and deploy_mode is null;
  select deploy_mode from deployments where id = deployment;
$$;
