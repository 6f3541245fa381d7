-- What is failing is asked less and less often.
alter table git_connections
  add column failures int not null default 0,
  -- When the host sent a webhook last that was signed with the secret of the connection.
  add column webhook_received_at timestamptz;

-- Installations of a GitHub App have no token of their own: one is made when it is needed.
alter table git_installations
  add column app_installation_id bigint unique,
  drop constraint git_installations_kind_check,
  add constraint git_installations_kind_check
    check (kind in ('github', 'github_app', 'gitlab', 'gitea', 'bitbucket', 'git')),
  add constraint git_installations_app_check check ((kind = 'github_app') = (app_installation_id is not null));
