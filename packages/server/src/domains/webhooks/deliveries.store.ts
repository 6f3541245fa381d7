/** The outbox: what webhooks are sent. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, type Sql, sql } from '../../platform/db/sql.ts';

export const listWantedEvents = (db: Queryable) =>
  db.many<{ event: string }>(sql`select distinct unnest(events) as event from webhooks where is_enabled`);

export interface NewDelivery {
  event: string;
  resource: string;
  payload: string;
}

/** Inserts a delivery for each webhook that wants the event, in the order of `events`. Returns how many. */
export const insertDeliveries = (tx: Tx, events: readonly NewDelivery[]) =>
  tx.run(sql`
    insert into webhook_deliveries (webhook_id, message_id, event, resource, payload)
    select w.id, gen_random_uuid(), e.event, e.resource, e.payload
    from rows from (json_to_recordset(${json(events)}) as (event text, resource text, payload text)) with ordinality
      as e (event, resource, payload, n)
      join webhooks w on w.is_enabled and w.events && array['*', e.event]
    order by e.n, w.id`);

/** Returns 0 if the webhook is gone or switched off. */
export const insertDeliveryFor = (tx: Tx, webhookId: number, { event, resource, payload }: NewDelivery) =>
  tx.run(sql`
    insert into webhook_deliveries (webhook_id, message_id, event, resource, payload)
    select w.id, gen_random_uuid(), ${event}, ${resource}, ${payload} from webhooks w
    where w.id = ${webhookId} and w.is_enabled`);

export interface DeliveryRow {
  id: number;
  messageId: string;
  event: string;
  payload: string;
  status: 'pending' | 'delivered' | 'failed';
  attempts: number;
  nextAttemptAt: string | null;
  responseStatus: number | null;
  error: string | null;
  createdAt: string;
  finishedAt: string | null;
}

const COLUMNS = sql`
  d.id, d.message_id as "messageId", d.event, d.payload, d.status, d.attempts,
  case when d.status = 'pending' then d.next_attempt_at end as "nextAttemptAt",
  d.response_status as "responseStatus", d.error, d.created_at as "createdAt", d.finished_at as "finishedAt"`;

/** Newest first. */
export const listDeliveries = (
  db: Queryable,
  webhookId: number,
  { status, beforeId, limit }: { status: string | null; beforeId: number | null; limit: number },
) =>
  db.many<DeliveryRow>(sql`
    select ${COLUMNS} from webhook_deliveries d
    where d.webhook_id = ${webhookId} and (${status}::text is null or d.status = ${status})
      and (${beforeId}::bigint is null or d.id < ${beforeId})
    order by d.id desc limit ${limit}`);

/**
 * Returns the delivery to the outbox, as if it were new. One that is pending only becomes due, so one that is being
 * sent now keeps its lease.
 */
export const resetDelivery = (tx: Tx, webhookId: number, id: number) =>
  tx.maybeOne<DeliveryRow>(sql`
    update webhook_deliveries d
    set status = 'pending', attempts = case when d.status = 'pending' then d.attempts else 0 end,
        next_attempt_at = now(), finished_at = null
    where d.id = ${id} and d.webhook_id = ${webhookId} returning ${COLUMNS}`);

/** Returns the oldest deliveries of a time to the outbox, as `resetDelivery` does. */
export const resetDeliveries = (
  tx: Tx,
  webhookId: number,
  {
    since,
    until,
    status,
    limit,
  }: { since: string; until: string | null; status: string | null; limit: number },
) =>
  tx.one<{ count: number; lastCreatedAt: string | null }>(sql`
    with chosen as (
      select id from webhook_deliveries
      where webhook_id = ${webhookId} and status <> 'pending' and (${status}::text is null or status = ${status})
        and created_at >= ${since}::timestamptz and (${until}::timestamptz is null or created_at < ${until}::timestamptz)
      order by created_at, id limit ${limit} for update),
    reset as (
      update webhook_deliveries d
      set status = 'pending', attempts = 0, next_attempt_at = now(), finished_at = null
      from chosen where d.id = chosen.id returning d.created_at)
    select count(*)::int as count, max(created_at) as "lastCreatedAt" from reset`);

/** Inserts a delivery for this webhook only, whatever events it wants. */
export const insertTest = (tx: Tx, webhookId: number, { event, resource, payload }: NewDelivery) =>
  tx.one<DeliveryRow>(sql`
    insert into webhook_deliveries as d (webhook_id, message_id, event, resource, payload)
    values (${webhookId}, gen_random_uuid(), ${event}, ${resource}, ${payload}) returning ${COLUMNS}`);

export interface ClaimedDelivery {
  id: number;
  webhookId: number;
  url: string;
  messageId: string;
  payload: string;
  attempts: number;
}

/** Looks at this many of a webhook's oldest waiting deliveries, so that a long queue of one costs the others little. */
const LOOK_AT = 1000;

/**
 * The deliveries `d` of each webhook `w` for which no older one of the same resource is pending. Leases tell the
 * senders apart.
 */
const heads = (limit: Sql): Sql => sql`
  webhooks w cross join lateral (
    select h.id, h.next_attempt_at, h.lease_until
    from (select id, resource, next_attempt_at, lease_until from webhook_deliveries
          where webhook_id = w.id and status = 'pending' order by id limit ${LOOK_AT}) h
    where not exists (
      select from webhook_deliveries older
      where older.webhook_id = w.id and older.resource = h.resource and older.status = 'pending' and older.id < h.id)
    ${limit}) d`;

/** Leases deliveries that are due, at most `atOnce` of a webhook at the same time over all senders. */
export const claimDeliveries = (
  db: Queryable,
  { token, leaseMs, atOnce, limit }: { token: string; leaseMs: number; atOnce: number; limit: number },
) =>
  db.many<ClaimedDelivery>(sql`
    with due as (
      select d.id from ${heads(sql`
        and h.next_attempt_at <= now() and (h.lease_until is null or h.lease_until < now())
        order by h.next_attempt_at, h.id
        limit greatest(0, ${atOnce} - (
          select count(*) from webhook_deliveries sent
          where sent.webhook_id = w.id and sent.status = 'pending' and sent.lease_until >= now()))`)}
      where w.is_enabled limit ${limit}),
    taken as (
      select id from webhook_deliveries where id in (select id from due) and status = 'pending'
        and (lease_until is null or lease_until < now())
      for update skip locked)
    update webhook_deliveries d
    set lease_token = ${token}, lease_until = now() + ${leaseMs} * interval '1 ms', attempts = d.attempts + 1
    from taken, webhooks w where d.id = taken.id and w.id = d.webhook_id
    returning d.id, d.webhook_id as "webhookId", w.url, d.message_id as "messageId", d.payload, d.attempts`);

/** When something is to be sent next, if nothing can be sent now. */
export const nextDue = async (db: Queryable) =>
  (
    await db.one<{ at: string | null }>(sql`
      select min(greatest(d.next_attempt_at, d.lease_until)) as at from ${heads(sql``)} where w.is_enabled`)
  ).at;

/** Only the holder of the lease records the outcome of an attempt. */
const ours = (id: number, token: string) => sql`id = ${id} and lease_token = ${token}`;

export const finishDelivery = (
  tx: Tx,
  id: number,
  token: string,
  { status, responseStatus, error }: Pick<DeliveryRow, 'status' | 'responseStatus' | 'error'>,
) =>
  tx.run(sql`
    update webhook_deliveries set status = ${status}, response_status = ${responseStatus}, error = ${error},
      finished_at = now(), lease_token = null, lease_until = null
    where ${ours(id, token)}`);

export const retryDelivery = (
  tx: Tx,
  id: number,
  token: string,
  { delayMs, responseStatus, error }: Pick<DeliveryRow, 'responseStatus' | 'error'> & { delayMs: number },
) =>
  tx.run(sql`
    update webhook_deliveries set next_attempt_at = now() + ${delayMs} * interval '1 ms',
      response_status = ${responseStatus}, error = ${error}, lease_token = null, lease_until = null
    where ${ours(id, token)}`);

/** Gives up the leases of a sender that ends before the answers have come. The attempts do not count. */
export const releaseDeliveries = (db: Queryable, token: string) =>
  db.run(sql`
    update webhook_deliveries set lease_token = null, lease_until = null, attempts = attempts - 1
    where lease_token = ${token} and status = 'pending'`);

export const noteSuccess = (tx: Tx, webhookId: number) =>
  tx.run(sql`update webhooks set failing_since = null where id = ${webhookId} and failing_since is not null`);

/** Switches the webhook off if every attempt has failed for long. */
export const noteFailure = (
  tx: Tx,
  webhookId: number,
  { disableAfterMs, notice }: { disableAfterMs: number; notice: string },
) =>
  tx.run(sql`
    update webhooks
    set failing_since = coalesce(failing_since, now()),
        is_enabled = is_enabled and (failing_since is null or failing_since > now() - ${disableAfterMs} * interval '1 ms'),
        notice = case when is_enabled and failing_since <= now() - ${disableAfterMs} * interval '1 ms' then ${notice}
                      else notice end
    where id = ${webhookId} and (failing_since is null or failing_since <= now() - ${disableAfterMs} * interval '1 ms')`);

export const disableWebhook = (tx: Tx, webhookId: number, notice: string) =>
  tx.run(sql`
    update webhooks set is_enabled = false, notice = ${notice} where id = ${webhookId} and is_enabled`);

/** Deletes at most `limit` rows. Returns how many. */
export const deleteOldDeliveries = (db: Queryable, keepDays: number, limit: number) =>
  db.run(sql`
    delete from webhook_deliveries where id in (
      select id from webhook_deliveries where created_at < now() - make_interval(hours => ${keepDays * 24})
      order by created_at limit ${limit})`);

/** Switches webhooks off for which more than `max` deliveries wait. */
export const disableOverfull = (db: Queryable, max: number, notice: string) =>
  db.run(sql`
    update webhooks w set is_enabled = false, notice = ${notice}
    where is_enabled and (select count(*) from (
      select from webhook_deliveries where webhook_id = w.id and status = 'pending' limit ${max + 1}) waiting) > ${max}`);

/** Whether a job is already going to look at the outbox until then. */
export const isJobWaiting = async (db: Queryable, kind: string, at: string) =>
  (
    await db.one<{ isWaiting: boolean }>(sql`
      select exists (select from jobs where kind = ${kind} and state = 'waiting' and run_at <= ${at}) as "isWaiting"`)
  ).isWaiting;
