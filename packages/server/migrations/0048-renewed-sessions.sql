-- A change that ends all sessions of a person gives their browser a new one. Whoever ends an earlier one ends it too.
alter table sessions
  -- The sessions of the browser before this one, the last one first.
  add column replaces bigint[] not null default '{}';
