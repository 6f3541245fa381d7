-- Writes the audit entry of something that minting created or changed.
create or replace function audit_minting(origin jsonb, noun text, resource_id text, before jsonb, after jsonb) returns void
language sql as $$
  insert into audit_log (operation, resource_type, resource_id, user_id, api_key_id, ip, request_id, before, after)
  values ('generateSession', noun, resource_id, (origin->>'userId')::bigint, (origin->>'apiKeyId')::bigint,
          origin->>'ip', origin->>'requestId', before, after)
$$;
