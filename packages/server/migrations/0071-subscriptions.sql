-- Whoever subscribed with an embed token has the security context of their newest session.
alter table notification_recipients
  -- When that session was minted. Null for whoever was added by others, whose context is the one that was given for them.
  add session_at timestamptz,
  -- It was revoked, so nothing is sent until they have a newer one.
  add session_revoked boolean not null default false;
create index notification_recipients_of_sessions on notification_recipients (notification_id)
  where session_at is not null;
