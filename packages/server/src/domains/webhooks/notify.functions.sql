-- Servers remember which events are wanted.
create or replace trigger webhooks_changed after insert or update of is_enabled, events or delete on webhooks
  for each statement execute function notify_credentials('webhooks');
