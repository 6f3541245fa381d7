-- App configuration beside what sessions read with the settings: theme, creator mode, sheets, time zones.
-- The bound leaves room for how jsonb is written; what callers may send is smaller.
alter table tenant_settings
  add column app_config jsonb not null default '{}' check (octet_length(app_config::text) <= 512 * 1024);
