-- A session is one sign-in of a person. Its row is deleted when it ends, and its tokens with it.
create table sessions (
  id bigint generated always as identity primary key,
  user_id bigint not null references users on delete cascade,
  kind text not null check (kind in ('login', 'device', 'console')),
  client_id text check (length(client_id) <= 255),
  user_agent text check (length(user_agent) <= 255),
  ip text,
  -- SHA-256 of the one refresh token that works. Console sessions have none.
  refresh_hash bytea,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  expires_at timestamptz not null
);
create index sessions_user on sessions (user_id, id);
create index sessions_expiry on sessions (expires_at);

-- Access tokens, and the cookies of console sessions.
create table session_tokens (
  -- SHA-256 of the token. Tokens are long and random, so a slow hash would add nothing.
  token_hash bytea primary key,
  session_id bigint not null references sessions on delete cascade,
  expires_at timestamptz not null
);
create index session_tokens_session on session_tokens (session_id, expires_at);
create index session_tokens_expiry on session_tokens (expires_at);
