-- The schedule that a job comes from. While a schedule has a job that is not finished, it gets no other one.
alter table jobs add column schedule text;
create unique index jobs_one_of_a_schedule on jobs (schedule)
  where schedule is not null and state in ('waiting', 'running');
