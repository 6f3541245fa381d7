alter table tenant_settings add column notification_link_template text;
