-- The keys that sign the tokens of deployments. Servers of earlier versions use every key of `signing_keys`.
create table workload_keys (
  id text primary key,
  public_key jsonb not null,
  private_key bytea not null,
  created_at timestamptz not null default now()
);

-- Which tokens the engines of every deployment get.
create table oidc_token_configs (
  id bigint generated always as identity primary key,
  name text collate "C" not null,
  -- As it was sent, in any letter case.
  audience_type text not null check (upper(audience_type) in ('AWS', 'AZURE', 'GCP', 'CUSTOM')),
  audience text not null,
  sub_format text,
  -- `json` keeps what was sent, digit for digit.
  custom_claims json,
  target_env_var text,
  is_enabled boolean not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint oidc_token_configs_name_key unique (name),
  constraint oidc_token_configs_target_env_var_key unique (target_env_var)
);
create unique index oidc_token_configs_one_of_each on oidc_token_configs (upper(audience_type))
  where upper(audience_type) <> 'CUSTOM';
