-- The settings of a deployment. `json` keeps what was sent, so that its size is the one that was checked.
alter table deployments
  -- A branch of the data model.
  add column deploy_branch_name text not null default 'main',
  add column deploy_branch_read_only boolean not null default false,
  add column deploy_branch_merge_allowed boolean not null default true,
  add column deploy_project_root text not null default '/',
  add column custom_domain text,
  add column default_launchpad_view_group text,
  add column launchpad_tabs text[],
  add column csps_config json,
  add column template text not null default 'single',
  add column template_variables json,
  add column release_channel text not null default 'latest',
  add column release_channel_version text,
  add column release_channel_version_hold boolean not null default false;

-- For the deletion of a deployment, which ends its jobs.
create index jobs_by_deployment on jobs ((payload ->> 'deploymentId')) where state in ('waiting', 'running');
