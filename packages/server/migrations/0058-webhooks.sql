create table webhooks (
  id bigint generated always as identity primary key,
  name text not null,
  url text not null,
  -- '*' is all events.
  events text[] not null,
  is_enabled boolean not null,
  -- Why the server switched it off.
  notice text,
  -- Since when every attempt has failed.
  failing_since timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- The newest one signs, and so do those before it until they end.
create table webhook_secrets (
  -- The secret is sealed with this id, so it is made before the row is.
  id uuid primary key,
  webhook_id bigint not null references webhooks on delete cascade,
  secret bytea not null,
  ends_at timestamptz,
  created_at timestamptz not null default now()
);
create index webhook_secrets_by_webhook on webhook_secrets (webhook_id);

-- The outbox: an event for a webhook, written in the transaction of the change.
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  webhook_id bigint not null references webhooks on delete cascade,
  message_id uuid not null,
  event text not null,
  -- Events of one resource are sent in their order.
  resource text not null,
  payload text not null,
  status text not null default 'pending' check (status in ('pending', 'delivered', 'failed')),
  attempts int not null default 0,
  next_attempt_at timestamptz not null default now(),
  -- Who sends it now, and until when nobody else does.
  lease_token uuid,
  lease_until timestamptz,
  response_status int,
  error text,
  created_at timestamptz not null default now(),
  finished_at timestamptz
);
create index webhook_deliveries_by_webhook on webhook_deliveries (webhook_id, id);
create index webhook_deliveries_pending on webhook_deliveries (webhook_id, id) where status = 'pending';
create index webhook_deliveries_in_order on webhook_deliveries (webhook_id, resource, id) where status = 'pending';
create index webhook_deliveries_by_time on webhook_deliveries (created_at);
