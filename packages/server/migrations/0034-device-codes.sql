-- A device that waits until a person approves it (RFC 8628). The row is deleted when the device gets its tokens.
create table device_codes (
  id bigint generated always as identity primary key,
  -- SHA-256 of the secret that the device keeps, and of the short code that the person types.
  secret_hash bytea not null,
  user_code_hash bytea not null,
  client_id text not null check (length(client_id) <= 255),
  user_agent text check (length(user_agent) <= 255),
  ip text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- The device must wait this long between attempts.
  interval_seconds int not null,
  last_asked_at timestamptz,
  -- A person answers once. If they approve, the session of the device begins, and the code ends with it.
  answered_at timestamptz,
  session_id bigint references sessions on delete cascade,
  check (session_id is null or answered_at is not null)
);
create unique index device_codes_user_code_key on device_codes (user_code_hash);
create index device_codes_session on device_codes (session_id) where session_id is not null;
create index device_codes_expiry on device_codes (expires_at);
