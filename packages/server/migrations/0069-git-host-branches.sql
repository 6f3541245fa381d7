-- Branches that only the repository has: which commit each had when it was looked at.
alter table git_remote_heads add column is_only_there boolean not null default false;

-- Whether the branches that only the repository has were written down once. What is new after that is looked at.
alter table git_connections add column knows_branches boolean not null default false;

-- What the repository of a deployment had when it was disconnected, so that a history that was replaced is noticed also
-- when it is connected again.
create table git_former_connections (
  deployment_id bigint primary key,
  url text not null check (length(url) <= 2048),
  -- The newest commit of each branch, by its name.
  heads jsonb not null
);
