-- Whether somebody gets an alert tells what they see, so only admins and they themselves may know.
alter table notification_runs
  -- It had a condition, at least when a part of it ran.
  add is_conditional boolean not null default false;
alter table notification_recipients
  -- The problem was noted by a run with a condition.
  add problem_is_conditional boolean not null default false;
