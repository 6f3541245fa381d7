-- Syncs read dbt projects from repositories.
alter table model_sync_sources
  -- The token of an address, sealed; see platform/secrets/box.ts.
  add column token_id uuid unique,
  add column token bytea,
  -- A connection to a git host can not be deleted while a source names it.
  add column installation_id bigint references git_installations
    generated always as ((settings -> 'repository' ->> 'installationId')::bigint) stored;
create index model_sync_sources_installation on model_sync_sources (installation_id);
