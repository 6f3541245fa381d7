-- Whether somebody gets an alert tells what they see, so only admins and they themselves may know.
alter table notification_runs
  -- It had a condition, at least when a part of it ran.
  add is_conditional boolean not null default false;
alter table notification_recipients
  -- The problem was noted by a run with a condition.
  add problem_is_conditional boolean not null default false;

update notification_runs r set is_conditional = true
from notifications n where n.id = r.notification_id and n.condition is not null;
update notification_recipients r set problem_is_conditional = true
from notifications n where n.id = r.notification_id and n.condition is not null and r.problem is not null;
