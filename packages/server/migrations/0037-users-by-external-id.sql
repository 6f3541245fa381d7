-- outside a transaction
create index concurrently users_by_external_id on users (external_id)
  where embed_tenant is null and deleted_at is null;
