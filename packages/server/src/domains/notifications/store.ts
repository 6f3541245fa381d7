import type { operations, ReplyOf } from '@oriel/contract';
import type { EmbedSession } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { join, json, type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';
import {
  dashboardLevel,
  EDIT,
  isPublished,
  type Level,
  seesDashboard,
  type Viewer,
} from '../access/index.ts';
import type { Timing } from './schedule.ts';

type Reply = ReplyOf<typeof operations.getNotification>;
export type FilterChoice = NonNullable<Reply['filters']>[number];
export type GrainChoice = NonNullable<Reply['timeGrains']>[number];
export type Condition = NonNullable<Reply['condition']>;

/** What a request decides about a notification. */
export interface NotificationFields extends Timing {
  name: string | null;
  isEnabled: boolean;
  notificationEnabled: boolean;
  notificationFormat: 'png' | 'pdf';
  filters: FilterChoice[] | null;
  timeGrains: GrainChoice[] | null;
  allowSubscribe: boolean;
  condition: Condition | null;
  nextDueAt: string | null;
}

export interface NotificationRow extends NotificationFields {
  id: number;
  deploymentId: number;
  dashboardId: number;
  dashboardPublicId: string;
  /** The title of the dashboard. */
  title: string;
  versionNumber: number;
  /** The newest version of which others may get the view of the owner. */
  agreedVersion: number | null;
  userId: number | null;
  /** The content key of the embed tenant that it belongs to. */
  embedTenant: string | null;
  embedTenantName: string | null;
  level: Level | null;
  isSubscribed: boolean;
}

/** Who looks at notifications. */
export interface NotificationViewer {
  viewer: Viewer;
  embed: EmbedSession | null;
  isAdmin: boolean;
}

const COLUMNS = sql`
  n.id, n.dashboard_id as "dashboardId", d.public_id as "dashboardPublicId", w.deployment_id as "deploymentId",
  coalesce((select v.title from dashboard_versions v
            where v.dashboard_id = d.id and v.number = d.version_number), w.name) as title,
  d.version_number as "versionNumber", n.agreed_version as "agreedVersion", n.user_id as "userId", n.embed_tenant as "embedTenant",
  (select t.name from embed_tenants t where t.content_key = n.embed_tenant) as "embedTenantName",
  n.name, n.schedule_type as "scheduleType", n.minute, n.hour, n.day_of_week as "dayOfWeek",
  n.day_of_month as "dayOfMonth", n.custom_cron as "customCron", n.timezone, n.is_enabled as "isEnabled",
  n.notification_enabled as "notificationEnabled", n.notification_format as "notificationFormat", n.filters,
  n.time_grains as "timeGrains", n.allow_subscribe as "allowSubscribe", n.condition,
  n.next_due_at as "nextDueAt"`;

const FROM = sql`notifications n join dashboards d on d.id = n.dashboard_id
  join workbooks w on w.id = d.workbook_id left join folders f on f.id = w.folder_id`;

/** The content key of an embed tenant. */
const keyOf = (tenant: string) => sql`(select content_key_of(${tenant}))`;

const isRecipient = (userId: number): Sql => sql`exists (
  select from notification_recipients r where r.notification_id = n.id and r.user_id = ${userId}
    and r.unsubscribed_at is null)`;

const isSubscribed = (userId: number): Sql => sql`(${isRecipient(userId)} or exists (
  select from notification_recipients r join user_group_members m on m.group_id = r.group_id
  where r.notification_id = n.id and m.user_id = ${userId} and not exists (
    select from notification_recipients own where own.notification_id = n.id and own.user_id = ${userId})))`;

/** Whether the looker may change the notification, as far as content decides it. */
export const mayChange = ({ viewer, embed }: NotificationViewer): Sql => {
  const edits = sql`coalesce(${dashboardLevel(viewer)} >= ${EDIT}, false)`;
  if (embed === null) return edits;
  if (!embed.creatorMode) return sql`false`;
  return sql`(n.embed_tenant = ${keyOf(embed.embedTenant)} and (n.user_id = ${viewer.userId} or ${edits}))`;
};

/**
 * Whether the looker knows of the notification. People do if they see the dashboard; those of embed tenants are for
 * admins. With an embed token, it must be of the main workspace or of the own embed tenant, and be open to them.
 */
function isSeen(looker: NotificationViewer): Sql {
  const { viewer, embed, isAdmin } = looker;
  const sees = seesDashboard(viewer, embed);
  const living = sql`(n.embed_tenant is null or exists (
    select from embed_tenants t where t.content_key = n.embed_tenant and t.deleted_at is null))`;
  if (embed === null) return sql`(${sees} and ${isAdmin ? living : sql`n.embed_tenant is null`})`;
  return sql`(${sees} and ${living} and (n.embed_tenant is null or n.embed_tenant = ${keyOf(embed.embedTenant)})
    and (n.allow_subscribe or ${mayChange(looker)} or ${isRecipient(viewer.userId)}))`;
}

const select = (looker: NotificationViewer, condition: Sql): Sql => sql`
  select ${COLUMNS}, ${dashboardLevel(looker.viewer)} as level, ${isSubscribed(looker.viewer.userId)} as "isSubscribed",
    ${mayChange(looker)} as "mayChange"
  from ${FROM} where w.deployment_id = ${looker.viewer.deploymentId} and ${isSeen(looker)} and ${condition}`;

export type SeenRow = NotificationRow & { mayChange: boolean };

export const findNotification = (db: Queryable, looker: NotificationViewer, id: number) =>
  db.maybeOne<SeenRow>(select(looker, sql`n.id = ${id}`));

/** Nobody else can change it or its recipients until the transaction ends. */
export const lockNotification = (tx: Tx, id: number) =>
  tx.run(sql`select from notifications where id = ${id} for no key update`);

export interface Filter {
  dashboardId?: number | null;
  dashboardPublicId?: string | null;
  recipientUserId?: number | null;
  recipientEmail?: string | null;
  recipientEmbedTenantName?: string | null;
  recipientExternalId?: string | null;
}

/** A recipient `r` whom the looker may know of. */
const mayKnow = (looker: NotificationViewer, seesRecipients: boolean): Sql =>
  seesRecipients
    ? sql`(r.user_id = ${looker.viewer.userId} or ${mayChange(looker)})`
    : sql`r.user_id = ${looker.viewer.userId}`;

export function listNotifications(
  db: Queryable,
  looker: NotificationViewer,
  filter: Filter,
  page: PageById,
  seesRecipients: boolean,
) {
  const conditions = [sql`n.id > ${page.afterId}`];
  if (filter.dashboardId != null) conditions.push(sql`n.dashboard_id = ${filter.dashboardId}`);
  if (filter.dashboardPublicId != null) conditions.push(sql`d.public_id = ${filter.dashboardPublicId}`);
  const about: Sql[] = [];
  if (filter.recipientUserId != null)
    about.push(sql`r.type = 'USER' and r.user_id = ${filter.recipientUserId}`);
  if (filter.recipientEmail != null)
    about.push(
      sql`r.type in ('USER', 'EMBED_USER') and lower(coalesce(r.email, u.email)) = lower(${filter.recipientEmail})`,
    );
  if (filter.recipientEmbedTenantName != null)
    about.push(sql`r.type = 'EMBED_USER' and u.embed_tenant = ${filter.recipientEmbedTenantName}`);
  if (filter.recipientExternalId != null)
    about.push(sql`r.type = 'EMBED_USER' and u.external_id = ${filter.recipientExternalId}`);
  if (about.length)
    conditions.push(sql`exists (
      select from notification_recipients r left join users u on u.id = r.user_id
      where r.notification_id = n.id and ${mayKnow(looker, seesRecipients)} and ${join(about, ' and ')})`);
  return db.many<SeenRow>(
    sql`${select(looker, join(conditions, ' and '))} order by n.id limit ${page.limit}`,
  );
}

export interface TargetDashboard {
  id: number;
  /** 0 if viewers see none. */
  versionNumber: number;
  level: Level | null;
  isSeen: boolean;
}

/** The dashboard that a notification is for, by its number or its public id. */
export const findDashboard = (
  db: Queryable,
  { viewer, embed }: NotificationViewer,
  by: { id: number } | { publicId: string },
) =>
  db.maybeOne<TargetDashboard>(sql`
    select d.id, case when ${isPublished} then d.version_number else 0 end as "versionNumber",
      ${dashboardLevel(viewer)} as level,
      ${seesDashboard(viewer, embed)} as "isSeen"
    from dashboards d join workbooks w on w.id = d.workbook_id left join folders f on f.id = w.folder_id
    where w.deployment_id = ${viewer.deploymentId}
      and ${'id' in by ? sql`d.id = ${by.id}` : sql`d.public_id = ${by.publicId}`}`);

export const findDemoDashboard = async (db: Queryable, deploymentId: number, slug: string) =>
  (
    await db.one<{ id: number }>(sql`
      select d.id from dashboards d join workbooks w on w.id = d.workbook_id
      where w.deployment_id = ${deploymentId} and w.slug = ${slug}`)
  ).id;

/** The content key that a new notification of the dashboard has: that of its workbook. */
export const findEmbedTenantOf = async (db: Queryable, dashboardId: number) =>
  (
    await db.one<{ embedTenant: string | null }>(sql`
      select w.embed_tenant as "embedTenant" from dashboards d join workbooks w on w.id = d.workbook_id
      where d.id = ${dashboardId}`)
  ).embedTenant;

/** One transaction at a time adds notifications to a dashboard, so that the limit is exact. It cannot be deleted meanwhile. */
export const lockDashboard = (tx: Tx, dashboardId: number) =>
  tx.run(sql`select from dashboards where id = ${dashboardId} for no key update`);

export const countOfDashboard = async (tx: Tx, dashboardId: number) =>
  (
    await tx.one<{ count: number }>(
      sql`select count(*) from notifications where dashboard_id = ${dashboardId}`,
    )
  ).count;

/**
 * Keeps the embed tenant until the transaction ends, and lets one transaction at a time add notifications to it. Returns
 * its content key, or nothing if it is gone.
 */
export const lockTenant = async (tx: Tx, name: string) =>
  (
    await tx.maybeOne<{ contentKey: string }>(sql`
      select content_key as "contentKey" from embed_tenants where name = ${name} and deleted_at is null
      for no key update`)
  )?.contentKey;

export const countOfTenant = async (tx: Tx, contentKey: string) =>
  (
    await tx.one<{ count: number }>(
      sql`select count(*) from notifications where embed_tenant = ${contentKey}`,
    )
  ).count;

export const insertNotification = async (
  tx: Tx,
  { dashboardId, userId, embedTenant }: { dashboardId: number; userId: number; embedTenant: string | null },
  wanted: NotificationFields,
) =>
  (
    await tx.one<{ id: number }>(sql`
      insert into notifications (dashboard_id, user_id, embed_tenant, name, schedule_type, minute, hour, day_of_week,
        day_of_month, custom_cron, timezone, is_enabled, notification_enabled, notification_format, filters,
        time_grains, allow_subscribe, condition, next_due_at)
      values (${dashboardId}, ${userId}, ${embedTenant}, ${wanted.name}, ${wanted.scheduleType}, ${wanted.minute},
        ${wanted.hour}, ${wanted.dayOfWeek}, ${wanted.dayOfMonth}, ${wanted.customCron}, ${wanted.timezone},
        ${wanted.isEnabled}, ${wanted.notificationEnabled}, ${wanted.notificationFormat},
        ${jsonOrNull(wanted.filters)}, ${jsonOrNull(wanted.timeGrains)}, ${wanted.allowSubscribe},
        ${jsonOrNull(wanted.condition)}, ${wanted.nextDueAt})
      returning id`)
  ).id;

export const updateNotification = (tx: Tx, id: number, wanted: NotificationFields) =>
  tx.run(sql`
    update notifications set name = ${wanted.name}, schedule_type = ${wanted.scheduleType}, minute = ${wanted.minute},
      hour = ${wanted.hour}, day_of_week = ${wanted.dayOfWeek}, day_of_month = ${wanted.dayOfMonth},
      custom_cron = ${wanted.customCron}, timezone = ${wanted.timezone}, is_enabled = ${wanted.isEnabled},
      notification_enabled = ${wanted.notificationEnabled}, notification_format = ${wanted.notificationFormat},
      filters = ${jsonOrNull(wanted.filters)}, time_grains = ${jsonOrNull(wanted.timeGrains)},
      allow_subscribe = ${wanted.allowSubscribe}, condition = ${jsonOrNull(wanted.condition)}, next_due_at = ${wanted.nextDueAt}, updated_at = now()
    where id = ${id}`);

/** The owner, or an admin, agrees that others get the view of the owner of what is published now. */
export const updateAgreedVersion = (tx: Tx, id: number) =>
  tx.run(sql`
    update notifications n set agreed_version = d.version_number from dashboards d
    where n.id = ${id} and d.id = n.dashboard_id and n.agreed_version is distinct from d.version_number`);

const jsonOrNull = (value: object | null) => (value === null ? sql`null::jsonb` : sql`${json(value)}::jsonb`);

export const deleteNotification = (tx: Tx, id: number) =>
  tx.run(sql`delete from notifications where id = ${id}`);
