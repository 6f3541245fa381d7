create table env_variables (
  -- The value is sealed with this id, so it is made before the row is.
  id uuid primary key,
  -- There are few for each deployment, and nobody should be able to read them when it is gone.
  deployment_id bigint not null references deployments on delete cascade,
  name text collate "C" not null,
  value bytea not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint env_variables_name_key unique (deployment_id, name)
);

-- Tokens for the environments of a deployment, which can only query.
create table environment_tokens (
  id bigint generated always as identity primary key,
  -- SHA-256 of the token. Tokens are long and random, so a slow hash would add nothing.
  token_hash bytea not null unique,
  -- The last characters of the token, by which people recognise it in a list.
  ending text not null,
  -- A job removes the tokens of a deleted deployment, because there may be many. They are not valid any more.
  deployment_id bigint not null,
  branch_id bigint not null,
  -- Who made the token, and with what. The token ends with them.
  user_id bigint not null references users on delete cascade,
  api_key_id bigint references api_keys on delete cascade,
  session_id bigint references sessions on delete cascade,
  purpose text not null check (purpose in ('query', 'meta_sync', 'own_identity')),
  scopes text[] not null,
  -- `json` keeps what was sent, digit for digit.
  security_context json not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index environment_tokens_by_branch on environment_tokens (deployment_id, branch_id, id);
create index environment_tokens_by_deployment on environment_tokens (deployment_id, expires_at);
create index environment_tokens_by_user on environment_tokens (user_id);
create index environment_tokens_by_api_key on environment_tokens (api_key_id) where api_key_id is not null;
create index environment_tokens_by_session on environment_tokens (session_id) where session_id is not null;
create index environment_tokens_expiry on environment_tokens (expires_at);
