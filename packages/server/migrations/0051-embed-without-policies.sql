-- Cubes and views without a policy are closed to embed viewers, unless the account opens them.
alter table tenant_settings
  add column embed_without_policies boolean not null default false;
