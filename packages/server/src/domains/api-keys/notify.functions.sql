-- A new key sends no notification, because no server has it in memory yet.
create or replace trigger api_keys_changed
  after delete or update of user_id, key_hash, deployment_ids, expires_at on api_keys
  for each row execute function notify_credentials('key:', 'id');
