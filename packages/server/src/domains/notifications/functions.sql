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
