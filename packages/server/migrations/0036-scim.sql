-- What an identity provider tells us about people and groups, and nobody else needs.
create table scim_users (
  user_id bigint primary key references users on delete cascade,
  display_name text,
  formatted_name text,
  family_name text,
  middle_name text,
  honorific_prefix text,
  honorific_suffix text
);

create table scim_groups (
  group_id bigint primary key references user_groups on delete cascade,
  external_id text not null
);
create index scim_groups_by_external_id on scim_groups (external_id);

-- Identity providers look groups up by their names, in any letter case.
create index user_groups_by_name on user_groups (lower(name), id) where embed_tenant is null;

-- Identity providers ask which groups have changed since a time.
alter table user_groups add column updated_at timestamptz not null default now();
