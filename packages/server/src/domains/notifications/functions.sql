-- Claims a delivery for sending. False if another one has it, or if its embed tenant has had its messages of this hour. Claims of
-- one embed tenant happen one after the other, and each statement here sees what was there when the lock was had.
create or replace function claim_notification_delivery(delivery bigint, per_hour bigint) returns boolean
language plpgsql as $$
declare
  tenant text;
begin
  select embed_tenant into tenant from notification_deliveries where id = delivery;
  if tenant is not null then
    perform pg_advisory_xact_lock(hashtextextended('notifications of ' || tenant, 0));
    if (select count(*) from notification_deliveries
          where embed_tenant = tenant and finished_at > now() - interval '1 hour' and status = 'sent')
        + (select count(*) from notification_deliveries
          where embed_tenant = tenant and finished_at is null and status = 'sending') >= per_hour then
      return false;
    end if;
  end if;
  update notification_deliveries set status = 'sending', attempts = attempts + 1
  where id = delivery and status = 'waiting';
  return found;
end $$;

-- The owner of a new schedule has agreed to the version of its dashboard that is published now, and a new owner of a schedule to none. In the
-- database, because servers of an earlier release write schedules too while a cluster is upgraded.
create or replace function agree_for_owner() returns trigger
language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    new.agreed_version := (select version_number from dashboards where id = new.dashboard_id);
  else
    new.agreed_version := null;
  end if;
  return new;
end $$;
create or replace trigger notifications_agreed before insert or update of user_id on notifications
  for each row execute function agree_for_owner();
