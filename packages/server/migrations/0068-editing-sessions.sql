-- The newest editing sessions of the draft, so that the audit log has one entry for each.
alter table workbooks add column editing_sessions text[] not null default '{}';
