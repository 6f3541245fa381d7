import type { EmbedSession } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, type Sql, sql } from '../../platform/db/sql.ts';
import { dashboardLevel, isPublished, type Level, seesDashboard, type Viewer } from '../access/index.ts';
import { pathText } from '../folders/index.ts';
import { shownName } from '../users/index.ts';
import type { DashboardConfig } from './config-rules.ts';
import type { StoredSnapshot } from './snapshots.ts';

export type EmbedAction = 'read' | 'none';

/** A dashboard without the config and the snapshots of its version, which may be large. */
export interface DashboardRow {
  id: number;
  publicId: string;
  workbookId: number;
  deploymentId: number;
  /** The owner of the workbook. */
  userId: number;
  name: string;
  folderPath: { id: number; name: string }[];
  allowEmbed: boolean;
  allEmbedUsers: EmbedAction;
  versionNumber: number;
  /** Whether viewers see the newest version. */
  isPublished: boolean;
  revision: number;
  createdBy: number | null;
  /** Null if the workbook is being removed, or is outside of the viewer's embed tenant. */
  level: Level | null;
  /** Whether it is published and the viewer may see it. */
  isSeen: boolean;
}

const COLUMNS = sql`
  d.id, d.public_id as "publicId", d.workbook_id as "workbookId", w.deployment_id as "deploymentId",
  w.user_id as "userId", w.name, ${pathText(sql`f.shown_path`)}::json as "folderPath",
  d.allow_embed as "allowEmbed", d.all_embed_users as "allEmbedUsers", d.version_number as "versionNumber",
  ${isPublished} as "isPublished", d.revision, d.created_by as "createdBy"`;

const find = (viewer: Viewer, embed: EmbedSession | null, condition: Sql): Sql => sql`
  select ${COLUMNS}, ${dashboardLevel(viewer)} as level, ${seesDashboard(viewer, embed)} as "isSeen"
  from dashboards d join workbooks w on w.id = d.workbook_id left join folders f on f.id = w.folder_id
  where w.deployment_id = ${viewer.deploymentId} and ${condition}`;

export const findDashboard = (db: Queryable, viewer: Viewer, embed: EmbedSession | null, id: number) =>
  db.maybeOne<DashboardRow>(find(viewer, embed, sql`d.id = ${id}`));

export const findDashboardOf = (
  db: Queryable,
  viewer: Viewer,
  embed: EmbedSession | null,
  workbookId: number,
) => db.maybeOne<DashboardRow>(find(viewer, embed, sql`d.workbook_id = ${workbookId}`));

export const PRESENCE_CHANNEL = 'oriel_presence';

export const notifyPresence = (db: Queryable, message: string) =>
  db.run(sql`select pg_notify(${PRESENCE_CHANNEL}, ${message})`);

export const listNames = (db: Queryable, userIds: number[]) =>
  db.many<{ id: number; name: string }>(sql`
    select u.id, ${shownName('u')} as name from users u where u.id = any(${userIds})`);

/** A group of the account. */
export const findGroup = (db: Queryable, id: number) =>
  db.maybeOne<{ name: string }>(sql`select name from user_groups where id = ${id} and embed_tenant is null`);

export const findEmbedTenant = (db: Queryable, name: string) =>
  db.maybeOne<{ name: string }>(sql`select name from embed_tenants where name = ${name}`);

/** Where the dashboard is, for callers about whom nothing is known yet. */
export const findPlace = (db: Queryable, publicId: string) =>
  db.maybeOne<{ id: number; workbookId: number; deploymentId: number }>(sql`
    select d.id, d.workbook_id as "workbookId", w.deployment_id as "deploymentId"
    from dashboards d join workbooks w on w.id = d.workbook_id join deployments p on p.id = w.deployment_id
    where d.public_id = ${publicId}`);

/** Returns nothing if the workbook has a dashboard already. */
export const insertDashboard = (tx: Tx, workbookId: number, publicId: string, userId: number) =>
  tx.run(sql`
    insert into dashboards (workbook_id, public_id, created_by) values (${workbookId}, ${publicId}, ${userId})
    on conflict (workbook_id) do nothing`);

export interface NewVersion {
  title: string | null;
  description: string | null;
  config: object;
  snapshots: object[];
  /** The size of the config and the snapshots. */
  bytes: number;
  note: string | null;
}

/** The workbook must be locked, so that the numbers have no gaps. */
export const insertVersion = (tx: Tx, dashboardId: number, version: NewVersion, userId: number) =>
  tx.run(sql`
    with next as (
      update dashboards set version_number = version_number + 1, revision = revision + 1, unpublished_at = null,
        updated_at = now()
      where id = ${dashboardId} returning version_number)
    insert into dashboard_versions (dashboard_id, number, title, description, config, snapshots, bytes, note, published_by)
    select ${dashboardId}, version_number, ${version.title}, ${version.description}, ${json(version.config)}::jsonb,
      ${json(version.snapshots)}::jsonb, ${version.bytes}, ${version.note}, ${userId}
    from next`);

/** Deletes old versions, until so many are left and they hold so many bytes. The newest one always stays. */
export const deleteOldVersions = (tx: Tx, dashboardId: number, keep: { versions: number; bytes: number }) =>
  tx.run(sql`
    delete from dashboard_versions where dashboard_id = ${dashboardId} and id in (
      select id from (
        select id, row_number() over newest_first as place, sum(bytes) over newest_first as bytes
        from dashboard_versions where dashboard_id = ${dashboardId}
        window newest_first as (order by number desc)) v
      where place > 1 and (place > ${keep.versions} or bytes > ${keep.bytes}))`);

export interface VersionRow {
  id: number;
  number: number;
  title: string | null;
  description: string | null;
  config: DashboardConfig;
  snapshots: StoredSnapshot[];
}

/** One version, whether viewers see it or not. */
export const findVersion = (db: Queryable, dashboardId: number, number: number) =>
  db.maybeOne<VersionRow>(sql`
    select id, number, title, description, config, snapshots from dashboard_versions
    where dashboard_id = ${dashboardId} and number = ${number}`);

export async function findPublishedNow(db: Queryable, id: number): Promise<VersionRow | undefined> {
  const row = await db.maybeOne<{ versionNumber: number }>(sql`
    select d.version_number as "versionNumber" from dashboards d where d.id = ${id} and ${isPublished}`);
  return row && findVersion(db, id, row.versionNumber);
}

/** The version that viewers see: the newest one, unless the dashboard was taken back. */
export const findPublished = async (
  db: Queryable,
  { id, versionNumber, isPublished }: Pick<DashboardRow, 'id' | 'versionNumber' | 'isPublished'>,
) => (isPublished ? findVersion(db, id, versionNumber) : undefined);

export interface ListedVersion {
  versionNumber: number;
  title: string | null;
  note: string | null;
  publishedAt: string;
  publisherId: number | null;
  publisherName: string | null;
}

export const listVersions = (db: Queryable, dashboardId: number, limit: number) =>
  db.many<ListedVersion>(sql`
    select v.number as "versionNumber", v.title, v.note, v.created_at as "publishedAt",
      u.id as "publisherId", ${shownName('u')} as "publisherName"
    from dashboard_versions v left join users u on u.id = v.published_by
    where v.dashboard_id = ${dashboardId} order by v.number desc limit ${limit}`);

export const unpublish = (tx: Tx, id: number) =>
  tx.run(sql`
    update dashboards set unpublished_at = now(), revision = revision + 1, updated_at = now() where id = ${id}`);

export const updateConfig = (tx: Tx, versionId: number, config: object) =>
  tx.run(sql`update dashboard_versions set config = ${json(config)}::jsonb where id = ${versionId}`);

export const touchDashboard = (tx: Tx, id: number) =>
  tx.run(sql`update dashboards set revision = revision + 1, updated_at = now() where id = ${id}`);

/** Returns whether anything has changed. */
export const updateEmbedding = async (
  tx: Tx,
  id: number,
  given: { allowEmbed: boolean; allEmbedUsers: EmbedAction },
) =>
  (await tx.run(sql`
    update dashboards set allow_embed = ${given.allowEmbed}, all_embed_users = ${given.allEmbedUsers},
      revision = revision + 1, updated_at = now()
    where id = ${id} and (allow_embed, all_embed_users) is distinct from
      (${given.allowEmbed}::boolean, ${given.allEmbedUsers}::text)`)) === 1;

/** Locks the embed tenant against deletion until the transaction ends. Returns whether it exists. */
export const keepTenant = async (tx: Tx, name: string) =>
  (await tx.run(sql`select from embed_tenants where name = ${name} and deleted_at is null for key share`)) ===
  1;

export interface TenantAccess {
  embedTenantName: string;
  action: EmbedAction;
  groupId: number;
}

export const listTenantAccess = (db: Queryable, dashboardId: number) =>
  db.many<TenantAccess>(sql`
    select t.name as "embedTenantName", e.action, t.id as "groupId"
    from dashboard_embed_access e join embed_tenants t on t.name = e.embed_tenant
    where e.dashboard_id = ${dashboardId} and t.deleted_at is null order by t.name collate "C"`);

export const upsertTenantAccess = (tx: Tx, dashboardId: number, tenant: string, action: EmbedAction) =>
  tx.run(sql`
    insert into dashboard_embed_access (dashboard_id, embed_tenant, action)
    values (${dashboardId}, ${tenant}, ${action})
    on conflict (dashboard_id, embed_tenant) do update set action = excluded.action`);

export const deleteTenantAccess = (tx: Tx, dashboardId: number, tenant: string) =>
  tx.run(sql`
    delete from dashboard_embed_access where dashboard_id = ${dashboardId} and embed_tenant = ${tenant}`);
