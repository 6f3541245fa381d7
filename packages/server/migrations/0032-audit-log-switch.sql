alter table tenant_settings
  add column audit_log_enabled boolean not null default true,
  -- When it was turned on or off. Null: never, it is on since the installation.
  add column audit_log_enabled_at timestamptz;
