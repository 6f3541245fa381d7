/** Runs of notifications, and what became of them for each recipient. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { isLiving } from '../users/index.ts';
import type { Timing } from './schedule.ts';
import { SKIP_REASONS } from './skip-reasons.ts';
import type { Condition, FilterChoice, GrainChoice } from './store.ts';

export interface DueRow extends Timing {
  id: number;
  embedTenant: string | null;
  nextDueAt: string;
}

const TIMING = sql`n.schedule_type as "scheduleType", n.minute, n.hour, n.day_of_week as "dayOfWeek",
  n.day_of_month as "dayOfMonth", n.custom_cron as "customCron", n.timezone`;

/** Locks the notification if it is on. The holder of the lock claims its due time. */
export const lockDue = (tx: Tx, id: number) =>
  tx.maybeOne<DueRow>(sql`
    select n.id, n.embed_tenant as "embedTenant", ${TIMING}, n.next_due_at as "nextDueAt" from notifications n
    where n.id = ${id} and n.is_enabled and n.next_due_at is not null for no key update`);

export const updateNextDue = (tx: Tx, id: number, nextDueAt: string | null) =>
  tx.run(sql`update notifications set next_due_at = ${nextDueAt} where id = ${id}`);

/** The notifications whose due time has passed by some minutes and was not claimed. */
export const listOverdue = (db: Queryable, limit: number) =>
  db.many<{ id: number; deploymentId: number; embedTenant: string | null }>(sql`
    select n.id, w.deployment_id as "deploymentId", n.embed_tenant as "embedTenant"
    from notifications n join dashboards d on d.id = n.dashboard_id join workbooks w on w.id = d.workbook_id
    where n.next_due_at < now() - interval '2 minutes' order by n.next_due_at limit ${limit}`);

export interface NewRun {
  notificationId: number;
  dueAt: string | null;
  requestedBy: number | null;
  isPreview: boolean;
  state: 'waiting' | 'missed';
  reason: string | null;
}

/** Returns nothing if the due time has a run already. */
export const insertRun = (tx: Tx, run: NewRun) =>
  tx.maybeOne<{ id: number }>(sql`
    insert into notification_runs (notification_id, due_at, requested_by, is_preview, state, reason, finished_at)
    values (${run.notificationId}, ${run.dueAt}, ${run.requestedBy}, ${run.isPreview}, ${run.state}, ${run.reason},
      case when ${run.state} = 'missed' then now() end)
    on conflict (notification_id, due_at) do nothing returning id`);

export interface RunReply {
  id: number;
  dueAt: string | null;
  requestedBy: number | null;
  isPreview: boolean;
  state: 'waiting' | 'running' | 'done' | 'failed' | 'missed';
  phase: 'checking' | 'reading' | 'sending' | 'retrying' | null;
  reason: string | null;
  renderings: number;
  sent: number;
  skipped: number;
  failed: number;
  waiting: number;
  hidesOthers: boolean;
  createdAt: string;
  startedAt: string | null;
  finishedAt: string | null;
}

/** Who looks at runs. */
export interface RunReader {
  userId: number;
  isAdmin: boolean;
}

/** Whether a reader gets an alert tells what they see. Channels, webhooks and addresses get the view of the owner. */
const hidesOthers = ({ isAdmin }: RunReader): Sql => sql`(r.is_conditional and not ${isAdmin})`;
const isShown = (reader: RunReader): Sql => sql`(not ${hidesOthers(reader)} or x.user_id = ${reader.userId}
  or (x.type not in ('USER', 'EMBED_USER') and exists (
    select from notifications n where n.id = r.notification_id and n.user_id = ${reader.userId})))`;

const count = (reader: RunReader, statuses: string) => sql`(
  select count(*) from notification_deliveries x
  where x.run_id = r.id and x.status = any(${statuses.split(' ')}) and ${isShown(reader)})`;

const shown = (reader: RunReader): Sql => sql`
  r.id, r.due_at as "dueAt", r.requested_by as "requestedBy", r.is_preview as "isPreview",
  case when hidden.failure then 'done' else r.state end as state,
  case when ${hidesOthers(reader)} and r.phase = 'retrying' then 'sending' else r.phase end as phase,
  case when not hidden.failure then r.reason end as reason, r.renderings, ${count(reader, 'sent')} as sent,
  ${count(reader, 'skipped')} as skipped, ${count(reader, 'failed unknown')} as failed,
  ${count(reader, 'waiting sending')} as waiting, ${hidesOthers(reader)} as "hidesOthers",
  r.created_at as "createdAt", r.started_at as "startedAt", r.finished_at as "finishedAt"
  from notification_runs r cross join lateral (
    select r.state = 'failed' and exists (
      select from notification_deliveries x
      where x.run_id = r.id and x.status in ('failed', 'unknown') and x.reason is not distinct from r.reason
        and not ${isShown(reader)}) as failure) hidden`;

export const findShownRun = (db: Queryable, notificationId: number, id: number, reader: RunReader) =>
  db.maybeOne<RunReply>(sql`
    select ${shown(reader)} where r.id = ${id} and r.notification_id = ${notificationId}`);

/** Newest first. */
export const listRuns = (
  db: Queryable,
  notificationId: number,
  page: { beforeId: number | null; limit: number } & RunReader,
) =>
  db.many<RunReply>(sql`
    select ${shown(page)}
    where r.notification_id = ${notificationId} and (${page.beforeId}::bigint is null or r.id < ${page.beforeId})
    order by r.id desc limit ${page.limit}`);

/** Whether a requested run is not done yet. A run that only waits for retries does not count. */
export const hasRequestedRun = async (tx: Tx, notificationId: number) =>
  (
    await tx.one<{ has: boolean }>(sql`
      select exists (select from notification_runs where notification_id = ${notificationId}
        and due_at is null and state in ('waiting', 'running') and phase is distinct from 'retrying') as has`)
  ).has;

/** Ignores runs of more than 25 hours ago: such a run was lost, and must not block new ones. */
export const hasUnfinishedRun = async (tx: Tx, notificationId: number) =>
  (
    await tx.one<{ has: boolean }>(sql`
      select exists (select from notification_runs where notification_id = ${notificationId}
        and state in ('waiting', 'running') and created_at > now() - interval '25 hours') as has`)
  ).has;

export interface DeliveryReply {
  id: number;
  type: 'USER' | 'EMBED_USER' | 'SLACK' | 'WEBHOOK';
  userId: number | null;
  address: string | null;
  status: 'waiting' | 'sending' | 'sent' | 'failed' | 'skipped' | 'unknown';
  reason: string | null;
  attempts: number;
  finishedAt: string | null;
}

export const listDeliveries = (
  db: Queryable,
  runId: number,
  page: { afterId: number; limit: number } & RunReader,
) =>
  db.many<DeliveryReply>(sql`
    select x.id, x.type, x.user_id as "userId",
      case when x.user_id is null or ${page.isAdmin} then x.address end as address, x.status, x.reason, x.attempts,
      x.finished_at as "finishedAt"
    from notification_deliveries x join notification_runs r on r.id = x.run_id
    where x.run_id = ${runId} and x.id > ${page.afterId} and ${isShown(page)} order by x.id limit ${page.limit}`);

/** Everything that a run needs of its notification. */
export interface RunRow extends Timing {
  id: number;
  notificationId: number;
  state: RunReply['state'];
  reason: string | null;
  dueAt: string | null;
  createdAt: string;
  requestedBy: number | null;
  isPreview: boolean;
  isConditional: boolean;
  deploymentId: number;
  dashboardId: number;
  publicId: string;
  versionNumber: number;
  publisherId: number | null;
  agreedVersion: number | null;
  name: string | null;
  workbookName: string;
  userId: number | null;
  /** The content key of the embed tenant that it belongs to. */
  embedTenant: string | null;
  embedTenantName: string | null;
  notificationEnabled: boolean;
  notificationFormat: 'png' | 'pdf';
  filters: FilterChoice[] | null;
  timeGrains: GrainChoice[] | null;
  condition: Condition | null;
}

export const findRun = (db: Queryable, id: number) =>
  db.maybeOne<RunRow>(sql`
    select r.id, r.notification_id as "notificationId", r.state, r.reason, r.due_at as "dueAt", r.created_at as "createdAt",
      r.requested_by as "requestedBy", r.is_preview as "isPreview", r.is_conditional as "isConditional", w.deployment_id as "deploymentId",
      d.id as "dashboardId", d.public_id as "publicId", d.version_number as "versionNumber",
      (select v.published_by from dashboard_versions v where v.dashboard_id = d.id and v.number = d.version_number) as
        "publisherId", n.agreed_version as "agreedVersion", n.name,
      w.name as "workbookName", n.user_id as "userId", n.embed_tenant as "embedTenant",
      (select t.name from embed_tenants t where t.content_key = n.embed_tenant) as "embedTenantName", ${TIMING},
      n.notification_enabled as "notificationEnabled", n.notification_format as "notificationFormat", n.filters,
      n.time_grains as "timeGrains", n.condition
    from notification_runs r join notifications n on n.id = r.notification_id
      join dashboards d on d.id = n.dashboard_id join workbooks w on w.id = d.workbook_id
      join deployments p on p.id = w.deployment_id
    where r.id = ${id} and (n.embed_tenant is null or exists (
      select from embed_tenants t where t.content_key = n.embed_tenant and t.deleted_at is null))`);

export const setPhase = (db: Queryable, id: number, phase: NonNullable<RunReply['phase']>) =>
  db.run(sql`
    update notification_runs set phase = ${phase}
    where id = ${id} and state in ('waiting', 'running')`);

/**
 * Marks the run as running. A run that had a condition once stays conditional, so that its outcome remains hidden from
 * others.
 */
export const beginRun = (db: Queryable, id: number, isConditional: boolean) =>
  db.run(sql`
    update notification_runs set state = 'running', phase = 'checking', started_at = coalesce(started_at, now()),
      is_conditional = is_conditional or ${isConditional}
    where id = ${id} and state in ('waiting', 'running')`);

/** For these deliveries, whose readers have equal rows. */
export const addRendering = (db: Queryable, id: number, key: string, deliveryIds: readonly number[]) =>
  db.run(sql`
    with marked as (
      update notification_deliveries set copy_key = ${key} where id = any(${deliveryIds}::bigint[]))
    update notification_runs set renderings = renderings + 1 where id = ${id}`);

/** Returns whether this call ended it. */
export const finishRun = async (
  tx: Tx,
  id: number,
  { state, reason }: { state: 'done' | 'failed'; reason: string | null },
) =>
  (await tx.run(sql`
    update notification_runs set state = ${state}, reason = ${reason}, phase = null, finished_at = now()
    where id = ${id} and state in ('waiting', 'running')`)) > 0;

/** What an earlier attempt was sending when it ended. Nobody knows whether it arrived, so it is not sent again. */
export const giveUpSending = (db: Queryable, runId: number, reason: string) =>
  db.run(sql`
    update notification_deliveries set status = 'unknown', reason = ${reason}, finished_at = now()
    where run_id = ${runId} and status = 'sending'`);

const DELIVERIES_MAX = 10_000;

/** One row for each person, address and channel that the recipients lead to. Members of groups are those of now. */
export const insertDeliveries = (tx: Tx, { id, notificationId }: Pick<RunRow, 'id' | 'notificationId'>) =>
  tx.run(sql`
    with own as (
      select r.*, coalesce('user:' || r.user_id, 'channel:' || r.channel_id, 'webhook:' || r.webhook_id,
        'address:' || lower(r.email)) as target
      from notification_recipients r where r.notification_id = ${notificationId}),
    targets as (
      select id as recipient_id, type, user_id, coalesce(channel_id, webhook_id::text, email) as address, target
      from own where type <> 'GROUP' and unsubscribed_at is null
      union all
      select g.id, case when u.embed_tenant is null then 'USER' else 'EMBED_USER' end, u.id, null, 'user:' || u.id
      from own g join user_group_members m on m.group_id = g.group_id join users u on u.id = m.user_id and ${isLiving}
      where not exists (select from own where own.user_id = u.id))
    insert into notification_deliveries (run_id, recipient_id, type, user_id, address, target, embed_tenant)
    select ${id}, min(t.recipient_id), min(t.type), t.user_id, coalesce(min(t.address), u.email), t.target,
      u.embed_tenant
    from targets t left join users u on u.id = t.user_id
    group by t.target, t.user_id, u.email, u.embed_tenant order by min(t.recipient_id), t.user_id
    limit ${DELIVERIES_MAX}
    on conflict (run_id, target) do nothing`);

/** Inserts the one delivery of a preview, to the user who requested it. */
export const insertOwnDelivery = (tx: Tx, runId: number, userId: number) =>
  tx.run(sql`
    insert into notification_deliveries (run_id, type, user_id, address, target, embed_tenant)
    select ${runId}, case when u.embed_tenant is null then 'USER' else 'EMBED_USER' end, u.id, u.email, 'user:' || u.id,
      u.embed_tenant
    from users u where u.id = ${userId} on conflict (run_id, target) do nothing`);

export interface DeliveryRow {
  id: number;
  type: DeliveryReply['type'];
  userId: number | null;
  address: string | null;
  recipientId: number | null;
  embedTenant: string | null;
  target: string;
  attempts: number;
  messageId: string;
  securityContext: object | null;
  /** When the newest session of a reader was minted who subscribed in a session. */
  sessionAt: string | null;
  sessionRevoked: boolean;
  creatorMode: boolean;
  /** Whether they left since the run began. */
  isUnsubscribed: boolean;
  /** Null for channels, for addresses without an account, and if the user or their embed tenant was deleted. */
  user: UserOfRow | null;
}

export interface UserOfRow {
  email: string | null;
  embedTenant: string | null;
  isDeactivated: boolean;
}

const USER = sql`json_build_object('email', u.email, 'embedTenant', u.embed_tenant, 'isDeactivated', u.is_deactivated)`;

/**
 * An embed user without a row of their own has the rights that their group gives. The requester of a preview has those
 * of their newest session, in which they asked.
 */
const selectDeliveries = ({
  notificationId,
  deploymentId,
  isPreview,
}: Pick<RunRow, 'notificationId' | 'deploymentId' | 'isPreview'>): Sql => sql`
  select x.id, x.type, x.user_id as "userId", x.address, x.recipient_id as "recipientId",
    x.embed_tenant as "embedTenant", x.target, x.attempts, x.message_id as "messageId",
    own.security_context as "securityContext", own.session_at as "sessionAt",
    coalesce(own.session_revoked, false) as "sessionRevoked",
    coalesce(own.creator_mode, (select g.embed_tenant is not null from notification_recipients of_group
      join user_groups g on g.id = of_group.group_id where of_group.id = x.recipient_id), false) as "creatorMode",
    coalesce(own.unsubscribed_at is not null, false) as "isUnsubscribed", case when u.id is not null then ${USER} end as user
  from notification_deliveries x left join users u on u.id = x.user_id and ${isLiving} left join lateral (
    select r.security_context, r.session_at, r.session_revoked, r.creator_mode, r.unsubscribed_at
    from notification_recipients r
    where not ${isPreview} and r.notification_id = ${notificationId} and r.user_id = x.user_id
    union all (
      select s.security_context, s.created_at, s.revoked_at is not null, true, null from embed_sessions s
      where ${isPreview} and s.user_id = x.user_id and s.deployment_id = ${deploymentId}
        and s.embed_tenant = x.embed_tenant and s.creator_mode
      order by s.id desc limit 1)) own on true`;

/** Those that are to be sent now. */
export const listWaiting = (db: Queryable, run: RunRow, afterId: number, limit: number) =>
  db.many<DeliveryRow>(sql`
    ${selectDeliveries(run)}
    where x.run_id = ${run.id} and x.status = 'waiting' and x.next_attempt_at <= now() and x.id > ${afterId}
    order by x.id limit ${limit}`);

/**
 * When the embed tenant of the delivery may have further messages, in milliseconds from now. Ten minutes more than the
 * hour of the first message, so that a few runs send what waits, and not one for each message.
 */
export const findRoomInMs = async (db: Queryable, id: number) =>
  (
    await db.one<{ ms: number }>(sql`
      select (extract(epoch from coalesce(min(o.finished_at), now()) + interval '70 minutes' - now()) * 1000)::int as ms
      from notification_deliveries x join notification_deliveries o on o.embed_tenant = x.embed_tenant
        and o.status = 'sent' and o.finished_at > now() - interval '1 hour'
      where x.id = ${id}`)
  ).ms;

/** Claims the delivery for sending. Returns false if another one has it, or the embed tenant has had its messages. */
export const claimDelivery = async (db: Queryable, id: number, perHour: number) =>
  (
    await db.one<{ isClaimed: boolean }>(
      sql`select claim_notification_delivery(${id}, ${perHour}) as "isClaimed"`,
    )
  ).isClaimed;

export const endDelivery = (
  tx: Queryable,
  id: number,
  { status, reason }: { status: 'sent' | 'failed' | 'skipped' | 'unknown'; reason: string | null },
) =>
  tx.run(sql`
    update notification_deliveries set status = ${status}, reason = ${reason}, finished_at = now()
    where id = ${id} and status in ('waiting', 'sending')`);

/** Returns whether its recipient had a problem before, which is over now. */
export const endSent = async (tx: Queryable, id: number) =>
  (
    await tx.maybeOne<{ hadProblem: boolean | null }>(sql`
      update notification_deliveries x set status = 'sent', reason = null, finished_at = now()
      where id = ${id} and status = 'sending'
      returning (select r.problem is not null or r.problem_is_conditional from notification_recipients r
        where r.id = x.recipient_id) as "hadProblem"`)
  )?.hadProblem ?? false;

/** `attempts` counts more of them, if it was not claimed before. */
export const retryDelivery = (db: Queryable, id: number, delayMs: number, reason: string, attempts = 0) =>
  db.run(sql`
    update notification_deliveries set status = 'waiting', reason = ${reason}, attempts = attempts + ${attempts},
      next_attempt_at = now() + ${delayMs} * interval '1 ms'
    where id = ${id} and status in ('waiting', 'sending')`);

export const lockCondition = (tx: Tx, notificationId: number, target: string) =>
  tx.maybeOne<{ isTrue: boolean; value: number | null }>(sql`
    select is_true as "isTrue", value from notification_conditions
    where notification_id = ${notificationId} and target = ${target} for update`);

export const setCondition = (
  tx: Tx,
  notificationId: number,
  target: string,
  { isTrue, value }: { isTrue: boolean; value: number | null },
) =>
  tx.run(sql`
    insert into notification_conditions (notification_id, target, is_true, value)
    values (${notificationId}, ${target}, ${isTrue}, ${value})
    on conflict (notification_id, target) do update set is_true = excluded.is_true,
      value = coalesce(excluded.value, notification_conditions.value)`);

/**
 * Sets the problem of a recipient. A run with a condition does not touch a problem that others may see, because the
 * change would tell them that it sent.
 */
export function setProblem(
  db: Queryable,
  recipientId: number,
  problem: string | null,
  isConditional: boolean,
) {
  const isHidden = isConditional && problem !== null;
  return db.run(sql`
    update notification_recipients set problem = ${problem}, problem_is_conditional = ${isHidden}
    where id = ${recipientId} and (problem, problem_is_conditional) is distinct from (${problem}::text, ${isHidden})
      and (not ${isConditional} or problem is null or problem_is_conditional)`);
}

/** Skipped for another reason than that a recipient or a condition decided it. */
const isLost = sql`(x.status = 'skipped' and x.reason <> all(${Object.values(SKIP_REASONS)}::text[]))`;
const hasFailed = sql`x.status in ('failed', 'unknown')`;

export const findSummary = (db: Queryable, runId: number) =>
  db.one<{ failed: number; lost: number; nextAttemptAt: string | null; reason: string | null }>(sql`
    select count(*) filter (where ${hasFailed}) as failed, count(*) filter (where ${isLost}) as lost,
      min(x.next_attempt_at) filter (where x.status = 'waiting') as "nextAttemptAt",
      min(x.reason) filter (where ${hasFailed}) as reason
    from notification_deliveries x where x.run_id = ${runId}`);

/** Returns whether the owner may be told of trouble now: once a day at most. */
export const claimOwnerNotice = async (tx: Tx, notificationId: number) =>
  (await tx.run(sql`
    update notifications set owner_told_at = now()
    where id = ${notificationId} and (owner_told_at is null or owner_told_at < now() - interval '1 day')`)) >
  0;

/** Deletes at most `limit` runs with their deliveries. Returns how many. */
export const deleteOldRuns = (db: Queryable, keepDays: number, limit: number) =>
  db.run(sql`
    delete from notification_runs where id in (
      select id from notification_runs where created_at < now() - make_interval(hours => ${keepDays * 24})
        and state not in ('waiting', 'running')
      order by created_at limit ${limit})`);

export const unsubscribe = (tx: Tx, notificationId: number, who: { userId: number } | { address: string }) =>
  tx.run(
    'userId' in who
      ? sql`
        insert into notification_recipients as r (notification_id, type, user_id, unsubscribed_at)
        select ${notificationId}, case when u.embed_tenant is null then 'USER' else 'EMBED_USER' end, u.id, now()
        from users u where u.id = ${who.userId} and exists (select from notifications where id = ${notificationId})
        on conflict (notification_id, user_id) where user_id is not null
          do update set unsubscribed_at = now() where r.unsubscribed_at is null`
      : sql`
        update notification_recipients set unsubscribed_at = now()
        where notification_id = ${notificationId} and user_id is null and lower(email) = lower(${who.address})
          and unsubscribed_at is null`,
  );

export const findLinked = (db: Queryable, notificationId: number) =>
  db.maybeOne<{ name: string; deploymentId: number }>(sql`
    select coalesce(n.name, (select v.title from dashboard_versions v
        where v.dashboard_id = d.id and v.number = d.version_number), w.name) as name,
      w.deployment_id as "deploymentId"
    from notifications n join dashboards d on d.id = n.dashboard_id join workbooks w on w.id = d.workbook_id
    where n.id = ${notificationId}`);

/** Nothing if they, or their embed tenant, were deleted. */
export const findUser = (db: Queryable, userId: number) =>
  db.maybeOne<UserOfRow>(sql`
    select u.email, u.embed_tenant as "embedTenant", u.is_deactivated as "isDeactivated"
    from users u where u.id = ${userId} and ${isLiving}`);

export const WARM_CHANNEL = 'oriel_notifications';

/** Tells all servers whose rows they shall have at hand. */
export const tellServers = (db: Queryable, payload: string) =>
  db.run(sql`select pg_notify(${WARM_CHANNEL}, ${payload})`);

export const listDeliveriesById = (db: Queryable, run: RunRow, ids: readonly number[]) =>
  db.many<DeliveryRow>(sql`${selectDeliveries(run)} where x.id = any(${ids}::bigint[]) order by x.id`);

/** Why people did not get it, the most frequent first, as far as the reader may know. */
export const listReasons = (db: Queryable, runId: number, reader: RunReader, limit: number) =>
  db.many<{ reason: string; count: number }>(sql`
    select x.reason, count(*) from notification_deliveries x join notification_runs r on r.id = x.run_id
    where x.run_id = ${runId} and (${hasFailed} or ${isLost}) and x.reason is not null and ${isShown(reader)}
    group by x.reason order by count(*) desc, x.reason limit ${limit}`);
