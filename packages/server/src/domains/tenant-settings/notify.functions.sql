create or replace trigger tenant_settings_changed after update on tenant_settings
  for each statement execute function notify_credentials('tenant-settings');
