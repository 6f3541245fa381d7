-- A user has at most one link to set a password: a new one replaces it. The row is deleted when the link is used.
create table password_links (
  user_id bigint primary key references users on delete cascade,
  kind text not null check (kind in ('invitation', 'reset')),
  -- SHA-256 of the secret in the link.
  secret_hash bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index password_links_expiry on password_links (expires_at);
