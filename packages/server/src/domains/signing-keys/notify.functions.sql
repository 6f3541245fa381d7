create or replace trigger signing_keys_changed after insert or delete on signing_keys
  for each statement execute function notify_credentials('signing-keys');
create or replace trigger workload_keys_changed after insert or delete on workload_keys
  for each statement execute function notify_credentials('workload-keys');
