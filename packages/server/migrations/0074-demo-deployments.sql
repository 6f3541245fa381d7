-- Which deployment is the demo: the first one, where an installation began with it, until somebody adds it anew.
alter table deployments add column is_demo boolean not null default false;

update deployments set is_demo = true
where id = 1 and exists (select from installation where demo_seeded_at is not null);
