-- Who a user is at the sign-in provider. The subject is unique within the issuer and never changes, unlike an email.
create table identities (
  id bigint generated always as identity primary key,
  issuer text not null check (length(issuer) <= 2048),
  subject text not null check (length(subject) <= 255),
  user_id bigint not null references users on delete cascade,
  -- The groups that the user is in because the provider named them.
  group_ids bigint[] not null default '{}',
  created_at timestamptz not null default now(),
  unique (issuer, subject),
  -- A user is one person at each provider.
  unique (user_id, issuer)
);
