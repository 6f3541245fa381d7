-- Whether the condition of a notification was true for a reader at the last run, and the value that was compared.
create table notification_conditions (
  notification_id bigint not null references notifications on delete cascade,
  -- The person, address or channel; see notification_deliveries.
  target text not null,
  is_true boolean not null,
  value double precision,
  primary key (notification_id, target)
);

alter table notification_deliveries
  -- Equal for readers of one run who get the same rows.
  add copy_key text;
