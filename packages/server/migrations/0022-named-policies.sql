-- Whoever shares a thing without being allowed to list people, groups and roles names them by id alone. Such a policy
-- must not tell them, or others, whose id it is.
alter table resource_policies add is_named boolean not null default true;
