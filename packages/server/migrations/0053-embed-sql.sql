-- Whether embed viewers may run SQL.
alter table tenant_settings add column embed_sql boolean not null default true;
