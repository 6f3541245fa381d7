import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, raw, type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';
import { isLiving, isPerson } from '../users/index.ts';

export type RecipientType = 'USER' | 'EMBED_USER' | 'SLACK' | 'GROUP' | 'WEBHOOK';

export interface RecipientRow {
  id: number;
  type: RecipientType;
  userId: number | null;
  username: string | null;
  email: string | null;
  embedTenantName: string | null;
  embedUserId: number | null;
  externalId: string | null;
  channelId: string | null;
  channelName: string | null;
  groupId: number | null;
  groupName: string | null;
  webhookId: number | null;
  isUnsubscribed: boolean;
  problem: string | null;
}

const when = (type: RecipientType, column: string): Sql =>
  sql`case when r.type = ${raw(`'${type}'`)} then ${raw(column)} end`;

/** The columns of a recipient. Only admins see all names and addresses; all others see their own. */
const columns = ({ userId, seesNames }: { userId: number; seesNames: boolean }): Sql => sql`
  r.id, r.type, ${when('USER', 'r.user_id')} as "userId",
  case when ${seesNames} or r.user_id = ${userId} then u.username end as username,
  coalesce(r.email, case when ${seesNames} or r.user_id = ${userId} then u.email end) as email,
  ${when('EMBED_USER', 'u.embed_tenant')} as "embedTenantName", ${when('EMBED_USER', 'r.user_id')} as "embedUserId",
  ${when('EMBED_USER', 'u.external_id')} as "externalId", r.channel_id as "channelId",
  r.channel_name as "channelName", r.group_id as "groupId", g.name as "groupName", r.webhook_id as "webhookId",
  r.unsubscribed_at is not null as "isUnsubscribed",
  case when ${seesNames} or r.user_id = ${userId} or not r.problem_is_conditional then r.problem end as problem`;

const FROM = sql`notification_recipients r left join users u on u.id = r.user_id
  left join user_groups g on g.id = r.group_id`;

/** Hides deleted users before the cleanup comes to their rows. */
const isThere = sql`(r.user_id is null or ${isLiving})`;

export interface Reader {
  userId: number;
  seesNames: boolean;
}

export const listRecipients = (
  db: Queryable,
  notificationId: number,
  reader: Reader,
  page: PageById & { onlyOwn: boolean },
) =>
  db.many<RecipientRow>(sql`
    select ${columns(reader)} from ${FROM}
    where r.notification_id = ${notificationId} and r.id > ${page.afterId} and ${isThere}
      and (not ${page.onlyOwn} or r.user_id = ${reader.userId})
    order by r.id limit ${page.limit}`);

export const listRecipientsById = (db: Queryable, ids: readonly number[], reader: Reader) =>
  db.many<RecipientRow>(sql`
    select ${columns(reader)} from ${FROM} where r.id = any(${ids}::bigint[]) order by r.id`);

export const countRecipients = async (tx: Tx, notificationId: number) =>
  (
    await tx.one<{ count: number }>(
      sql`select count(*) from notification_recipients where notification_id = ${notificationId}`,
    )
  ).count;

/** What a request says of a recipient, with what it names found. */
export interface ResolvedRecipient {
  type: RecipientType;
  userId: number | null;
  groupId: number | null;
  webhookId: number | null;
  channelId: string | null;
  channelName: string | null;
  /** The address of a recipient without an account. */
  email: string | null;
  securityContext: object | null;
  creatorMode: boolean;
}

/** A recipient who subscribed in a session keeps its context, unless the request gives another one. */
const staysOfSession = sql`(r.session_at is not null and given."securityContext" is null)`;

/** One row for each, in their order, with the recipient that is there already. */
export const matchRecipients = (tx: Tx, notificationId: number, given: readonly ResolvedRecipient[]) =>
  tx.many<{ id: number | null; isSame: boolean }>(sql`
    select r.id, coalesce(
        (r.channel_name is not distinct from coalesce(given."channelName", r.channel_name))
        and (given."securityContext" is null
          or (r.session_at is null and r.security_context is not distinct from given."securityContext"))
        and (r.creator_mode = given."creatorMode" or ${staysOfSession}), false) as "isSame"
    from ${recordset(given)} left join notification_recipients r on r.notification_id = ${notificationId} and (
      r.user_id = given."userId" or r.group_id = given."groupId" or r.webhook_id = given."webhookId"
      or r.channel_id = given."channelId"
      or (r.type = 'USER' and r.user_id is null and lower(r.email) = lower(given.email)))
    order by given.n`);

const recordset = (given: readonly object[]): Sql => sql`
  rows from (jsonb_to_recordset(${json(given)}::jsonb) as (id bigint, type text, "userId" bigint, "groupId" bigint,
    "webhookId" bigint, "channelId" text, "channelName" text, email text, "securityContext" jsonb,
    "creatorMode" boolean))
  with ordinality as given (id, type, "userId", "groupId", "webhookId", "channelId", "channelName", email,
    "securityContext", "creatorMode", n)`;

export const insertRecipients = (tx: Tx, notificationId: number, given: readonly ResolvedRecipient[]) =>
  tx.many<{ id: number }>(sql`
    insert into notification_recipients (notification_id, type, user_id, group_id, webhook_id, channel_id,
      channel_name, email, security_context, creator_mode)
    select ${notificationId}, given.type, given."userId", given."groupId", given."webhookId", given."channelId",
      given."channelName", given.email, given."securityContext", given."creatorMode"
    from ${recordset(given)} order by given.n returning id`);

export const updateRecipients = (tx: Tx, given: readonly (ResolvedRecipient & { id: number })[]) =>
  tx.run(sql`
    update notification_recipients r
    set channel_name = coalesce(given."channelName", r.channel_name),
        security_context = coalesce(given."securityContext", r.security_context),
        session_at = case when ${staysOfSession} then r.session_at end,
        session_revoked = ${staysOfSession} and r.session_revoked,
        creator_mode = case when ${staysOfSession} then r.creator_mode else given."creatorMode" end
    from ${recordset(given)} where r.id = given.id`);

export interface RemovedTarget {
  type: RecipientType;
  id: number | null;
  text: string | null;
  embedTenantName: string | null;
}

/** Returns the labels of those that were there. */
export const deleteRecipients = (tx: Tx, notificationId: number, given: readonly RemovedTarget[]) =>
  tx.many<{ label: string }>(sql`
    delete from notification_recipients r where r.id in (
      select r.id from jsonb_to_recordset(${json(given)}::jsonb)
          as given (type text, id bigint, text text, "embedTenantName" text)
        join notification_recipients r on r.notification_id = ${notificationId} and r.type = given.type
        left join users u on u.id = r.user_id
      where given.id in (r.user_id, r.group_id, r.webhook_id) or r.channel_id = given.text
        or (r.type = 'USER' and r.user_id is null and lower(r.email) = lower(given.text))
        or (r.type = 'EMBED_USER' and u.external_id = given.text and u.embed_tenant = given."embedTenantName"))
    returning ${labelOf('r')} as label`);

/** How the audit log names a recipient. */
const labelOf = (alias: string): Sql => {
  const row = raw(alias);
  return sql`${row}.type || ' ' || coalesce(${row}.user_id::text, ${row}.group_id::text, ${row}.webhook_id::text,
    ${row}.channel_id, ${row}.email)`;
};

export const listLabels = async (db: Queryable, ids: readonly number[]) =>
  (
    await db.many<{ label: string }>(sql`
      select ${labelOf('r')} as label from notification_recipients r where r.id = any(${ids}::bigint[]) order by r.id`)
  ).map(({ label }) => label);

/** Returns the people among these that can be recipients. They cannot be deleted until the transaction ends. */
export const lockPeople = (tx: Tx, ids: readonly number[], emails: readonly string[]) =>
  tx.many<{ id: number; email: string | null }>(sql`
    select u.id, u.email from users u
    where (u.id = any(${ids}::bigint[]) or lower(u.email) = any(${emails}::text[])) and ${isPerson}
      and not u.is_deactivated
    order by u.id for key share`);

export const lockEmbedUsers = (tx: Tx, tenants: readonly string[], externalIds: readonly string[]) =>
  tx.many<{ id: number; email: string | null; embedTenantName: string; externalId: string }>(sql`
    select u.id, u.email, u.embed_tenant as "embedTenantName", u.external_id as "externalId" from users u
    where (u.embed_tenant, u.external_id) in (
        select * from unnest(${tenants}::text[], ${externalIds}::text[])) and ${isLiving}
    order by u.id for key share`);

/** Groups of the account or, with a name, of the embed tenant. */
export const lockGroups = (tx: Tx, ids: readonly number[], embedTenant: string | null) =>
  tx.many<{ id: number }>(sql`
    select id from user_groups where id = any(${ids}::bigint[])
      and embed_tenant is not distinct from ${embedTenant} order by id for key share`);

export const lockWebhooks = (tx: Tx, ids: readonly number[]) =>
  tx.many<{ id: number }>(sql`
    select id from webhooks where id = any(${ids}::bigint[]) order by id for key share`);

export const emailsOf = (db: Queryable, userIds: readonly number[]) =>
  db.many<{ id: number; email: string | null }>(
    sql`select id, email from users where id = any(${userIds}::bigint[])`,
  );

export interface OwnRecipient {
  userId: number;
  type: 'USER' | 'EMBED_USER';
  /** The session of a recipient with an embed token. */
  session: { securityContext: object | null; createdAt: string } | null;
  creatorMode: boolean;
}

export const findSession = (db: Queryable, sessionId: number) =>
  db.maybeOne<NonNullable<OwnRecipient['session']>>(sql`
    select security_context as "securityContext", created_at as "createdAt" from embed_sessions
    where id = ${sessionId}`);

/** Adds the caller as a recipient. What others gave them before stays as it is. Returns whether they are new. */
export const insertOwn = async (tx: Tx, notificationId: number, own: OwnRecipient) =>
  (
    await tx.maybeOne<{ isNew: boolean }>(sql`
      insert into notification_recipients as r (notification_id, type, user_id, security_context, session_at,
        creator_mode)
      values (${notificationId}, ${own.type}, ${own.userId},
        ${own.session?.securityContext ? sql`${json(own.session.securityContext)}::jsonb` : sql`null::jsonb`},
        ${own.session?.createdAt ?? null}, ${own.creatorMode})
      on conflict (notification_id, user_id) where user_id is not null do update
        set security_context = excluded.security_context, session_at = excluded.session_at, session_revoked = false,
          creator_mode = excluded.creator_mode
        where r.session_at is not null or (r.unsubscribed_at is not null and r.security_context is null)
      returning r.xmax = 0 as "isNew"`)
  )?.isNew ?? false;

/**
 * Gives recipients who subscribed in a session the context of their newest session, even if it has expired, or notes
 * that it was revoked. Sessions are listed for eight days and revocations for nine, so this happens every hour, and for
 * each run.
 */
export const renewSubscriptions = (
  db: Queryable,
  only: { notificationId?: number; userId?: number | null; ids?: readonly number[] },
) =>
  db.run(sql`
    update notification_recipients r
    set session_at = x.at, security_context = x.context, session_revoked = x.revoked
    from (
      select o.id, newest.at, case when s.id is null then o.security_context else s.security_context end as context,
        (o.session_revoked and newest.at = o.session_at) or s.revoked_at is not null or exists (
          select from embed_revocations v where v.revoked_at >= newest.at and (
            v.user_id = o.user_id or v.embed_tenant = u.embed_tenant or v.deployment_id = w.deployment_id
            or v.session_id = s.id or v.api_key_id = s.api_key_id or (v.creator_mode and o.creator_mode))) as revoked
      from notification_recipients o join notifications n on n.id = o.notification_id
        join dashboards d on d.id = n.dashboard_id join workbooks w on w.id = d.workbook_id
        join users u on u.id = o.user_id
        left join lateral (
          select s.id, s.created_at, s.security_context, s.revoked_at, s.api_key_id from embed_sessions s
          where s.user_id = o.user_id and s.deployment_id = w.deployment_id and s.embed_tenant = u.embed_tenant
            and s.creator_mode = o.creator_mode
          order by s.id desc limit 1) s on true
        cross join lateral (select coalesce(s.created_at, o.session_at) as at) newest
      where o.session_at is not null
        and (${only.notificationId ?? null}::bigint is null or o.notification_id = ${only.notificationId ?? null})
        and (${only.userId ?? null}::bigint is null or o.user_id = ${only.userId ?? null})
        and (${only.ids ?? null}::bigint[] is null or o.id = any(${only.ids ?? null}))) x
    where r.id = x.id and r.session_at is not null
      and (r.session_at, r.security_context, r.session_revoked) is distinct from (x.at, x.context, x.revoked)`);

/** Subscriptions with an embed token, in the order of their ids. */
export const listSubscriptions = async (db: Queryable, afterId: number, rows: number) =>
  (
    await db.many<{ id: number }>(sql`
      select id from notification_recipients where session_at is not null and id > ${afterId} order by id limit ${rows}`)
  ).map(({ id }) => id);

/** Returns whether there was such a recipient. */
export const setUnsubscribed = async (tx: Tx, notificationId: number, userId: number, isOut: boolean) =>
  (await tx.run(sql`
    update notification_recipients set unsubscribed_at = case when ${isOut} then coalesce(unsubscribed_at, now()) end
    where notification_id = ${notificationId} and user_id = ${userId}`)) > 0;

/** Whether a recipient gets the view of the owner: a channel, or an address without an account. */
export const hasOwnersView = async (db: Queryable, notificationId: number) =>
  (
    await db.one<{ has: boolean }>(sql`
      select exists (select from notification_recipients where notification_id = ${notificationId}
        and (type = 'SLACK' or (type = 'USER' and user_id is null))) as has`)
  ).has;

export const copyRecipients = (tx: Tx, fromId: number, toId: number) =>
  tx.run(sql`
    insert into notification_recipients (notification_id, type, user_id, group_id, webhook_id, channel_id,
      channel_name, email, security_context, session_at, session_revoked, creator_mode, unsubscribed_at)
    select ${toId}, type, user_id, group_id, webhook_id, channel_id, channel_name, email, security_context, session_at,
      session_revoked, creator_mode, unsubscribed_at
    from notification_recipients where notification_id = ${fromId} order by id`);
