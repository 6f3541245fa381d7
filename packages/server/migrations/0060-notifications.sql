-- Schedules of published dashboards.
create table notifications (
  id bigint generated always as identity primary key,
  dashboard_id bigint not null references dashboards on delete cascade,
  -- The owner, whose view channels get.
  user_id bigint references users on delete set null,
  -- The content key of the embed tenant that it belongs to; null for the main workspace.
  embed_tenant text,
  name text,
  schedule_type text not null check (schedule_type in ('HOURLY', 'DAILY', 'WEEKLY', 'MONTHLY', 'CUSTOM')),
  -- Wall time of the zone, never parts in UTC.
  minute int,
  hour int,
  day_of_week int,
  day_of_month int,
  custom_cron text,
  timezone text not null,
  is_enabled boolean not null,
  notification_enabled boolean not null,
  notification_format text not null check (notification_format in ('png', 'pdf')),
  filters jsonb,
  time_grains jsonb,
  allow_subscribe boolean not null,
  condition jsonb,
  -- Null while it is off.
  next_due_at timestamptz,
  -- When the owner was told of failures last.
  owner_told_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index notifications_by_dashboard on notifications (dashboard_id, id);
create index notifications_by_owner on notifications (user_id) where user_id is not null;
create index notifications_by_tenant on notifications (embed_tenant) where embed_tenant is not null;
create index notifications_due on notifications (next_due_at) where next_due_at is not null;

create table notification_recipients (
  id bigint generated always as identity primary key,
  notification_id bigint not null references notifications on delete cascade,
  type text not null check (type in ('USER', 'EMBED_USER', 'SLACK', 'GROUP', 'WEBHOOK')),
  -- The person or embed user. A USER without one is an address that belongs to nobody.
  user_id bigint references users on delete cascade,
  group_id bigint references user_groups on delete cascade,
  webhook_id bigint references webhooks on delete cascade,
  channel_id text,
  channel_name text,
  email text,
  -- What policies see of an embed user, beside groups and attributes.
  security_context jsonb,
  -- Whether they have the groups and attributes of their embed tenant, or those of the account.
  creator_mode boolean not null default false,
  -- They left by a link, or by themselves. Kept, so that a group does not bring them back.
  unsubscribed_at timestamptz,
  problem text,
  created_at timestamptz not null default now()
);
create unique index notification_recipients_user on notification_recipients (notification_id, user_id)
  where user_id is not null;
create unique index notification_recipients_group on notification_recipients (notification_id, group_id)
  where group_id is not null;
create unique index notification_recipients_webhook on notification_recipients (notification_id, webhook_id)
  where webhook_id is not null;
create unique index notification_recipients_channel on notification_recipients (notification_id, channel_id)
  where channel_id is not null;
create unique index notification_recipients_address on notification_recipients (notification_id, lower(email))
  where type = 'USER' and user_id is null;
create index notification_recipients_in_order on notification_recipients (notification_id, id);
create index notification_recipients_by_user on notification_recipients (user_id) where user_id is not null;
create index notification_recipients_by_group on notification_recipients (group_id) where group_id is not null;
create index notification_recipients_by_webhook on notification_recipients (webhook_id)
  where webhook_id is not null;

-- What ran, or was missed. A due time has one row, whoever claims it.
create table notification_runs (
  id bigint generated always as identity primary key,
  notification_id bigint not null references notifications on delete cascade,
  -- Null for runs that somebody asked for.
  due_at timestamptz,
  -- Who asked for it. With is_preview, only they are sent it.
  requested_by bigint references users on delete set null,
  is_preview boolean not null default false,
  state text not null check (state in ('waiting', 'running', 'done', 'failed', 'missed')),
  phase text,
  reason text,
  renderings int not null default 0,
  created_at timestamptz not null default now(),
  started_at timestamptz,
  finished_at timestamptz,
  unique (notification_id, due_at)
);
create index notification_runs_in_order on notification_runs (notification_id, id);
create index notification_runs_by_requester on notification_runs (requested_by) where requested_by is not null;
create index notification_runs_by_time on notification_runs (created_at);

-- One row for each recipient of a run, written before anything is sent.
create table notification_deliveries (
  id bigint generated always as identity primary key,
  run_id bigint not null references notification_runs on delete cascade,
  -- The same person, address or channel has one row, however often recipients lead to it.
  target text not null,
  recipient_id bigint references notification_recipients on delete set null,
  type text not null check (type in ('USER', 'EMBED_USER', 'SLACK', 'WEBHOOK')),
  user_id bigint references users on delete set null,
  -- The mail address, channel or webhook.
  address text,
  -- The embed tenant whose messages in an hour are limited.
  embed_tenant text,
  status text not null default 'waiting'
    check (status in ('waiting', 'sending', 'sent', 'failed', 'skipped', 'unknown')),
  reason text,
  attempts int not null default 0,
  next_attempt_at timestamptz not null default now(),
  message_id uuid not null default gen_random_uuid(),
  finished_at timestamptz,
  unique (run_id, target)
);
create index notification_deliveries_in_order on notification_deliveries (run_id, id);
create index notification_deliveries_by_recipient on notification_deliveries (recipient_id)
  where recipient_id is not null;
create index notification_deliveries_by_user on notification_deliveries (user_id) where user_id is not null;
create index notification_deliveries_sent on notification_deliveries (embed_tenant, finished_at)
  where embed_tenant is not null;

alter table tenant_settings
  add embed_notification_limit int not null default 20,
  add embed_notifications_per_hour int not null default 1000,
  add notification_recipients text not null default 'known'
    constraint tenant_settings_notification_recipients_check
    check (notification_recipients in ('known', 'domains', 'anybody')),
  add notification_domains text[] not null default '{}';
