-- Servers remember which tokens engines get.
create or replace trigger oidc_token_configs_changed after insert or update or delete on oidc_token_configs
  for each statement execute function notify_credentials('oidc-token-configs');
