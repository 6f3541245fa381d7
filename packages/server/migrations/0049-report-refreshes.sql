-- When the query of a report was run last. `refreshed_by` says by whom.
alter table reports add column refreshed_at timestamptz;
