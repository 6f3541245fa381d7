-- Who changed what. No foreign keys: an entry outlives what it speaks of.
create table audit_log (
  id bigint generated always as identity primary key,
  created_at timestamptz not null default now(),
  operation text not null,
  resource_type text not null,
  resource_id text not null,
  deployment_id bigint,
  user_id bigint,
  api_key_id bigint,
  ip text,
  request_id text,
  before jsonb,
  after jsonb
);

create index audit_log_created_at on audit_log (created_at, id);
create index audit_log_resource on audit_log (resource_type, resource_id, id);
