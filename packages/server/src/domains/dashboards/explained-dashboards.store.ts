import type { EmbedSession } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import { isOfTenant, isPresent, isPublished, seesDashboard, type Viewer } from '../access/index.ts';
import type { AttributeType } from '../user-attributes/index.ts';
import type { EmbedAction } from './store.ts';

export interface FoundViewer {
  isKnownTenant: boolean;
  userId: number | null;
  isDeactivated: boolean;
  liveSessions: number;
  revokedSessions: number;
}

export const findViewer = (db: Queryable, deploymentId: number, tenant: string, externalId: string) =>
  db.one<FoundViewer>(sql`
    select exists (select from embed_tenants where name = ${tenant} and deleted_at is null) as "isKnownTenant",
      u.id as "userId", coalesce(u.is_deactivated, false) as "isDeactivated",
      (select count(*) from embed_sessions s
       where s.user_id = u.id and s.deployment_id = ${deploymentId} and s.expires_at > now()
         and s.revoked_at is null) as "liveSessions",
      (select count(*) from embed_sessions s
       where s.user_id = u.id and s.deployment_id = ${deploymentId} and s.expires_at > now()
         and s.revoked_at is not null) as "revokedSessions"
    from (select) one
    left join users u on u.embed_tenant = ${tenant} and u.external_id = ${externalId} and u.deleted_at is null`);

/** Attributes by name, in the catalogue of the account or of an embed tenant. */
export const listAttributes = (db: Queryable, userId: number | null, catalogue: string | null) =>
  db.many<{ id: number; name: string; type: AttributeType; hasValue: boolean }>(sql`
    select a.id, a.name, a.type, v.value is not null as "hasValue"
    from user_attributes a left join user_attribute_values v on v.attribute_id = a.id and v.user_id = ${userId}
    where coalesce(a.embed_tenant, '') = coalesce(${catalogue}, '') order by a.name collate "C"`);

export interface ExplainedRow {
  id: number | null;
  workbookId: number;
  publicId: string | null;
  name: string;
  isPublished: boolean;
  allowEmbed: boolean;
  allEmbedUsers: EmbedAction;
  /** Whether it belongs to the embed tenant itself. */
  isOwn: boolean;
  /** The entry of the embed tenant. */
  entry: EmbedAction | null;
  isSeen: boolean;
}

/** Dashboards that could be shown to viewers of the tenant. With a workbook, only its own, published or not. */
export const listExplained = (
  db: Queryable,
  viewer: Viewer,
  embed: EmbedSession,
  { workbookId, limit }: { workbookId: number | null; limit: number },
) =>
  db.many<ExplainedRow>(sql`
    select d.id, w.id as "workbookId", d.public_id as "publicId", w.name,
      coalesce(${isPublished}, false) as "isPublished", coalesce(d.allow_embed, false) as "allowEmbed",
      coalesce(d.all_embed_users, 'none') as "allEmbedUsers", w.embed_tenant is not null as "isOwn",
      (select e.action from dashboard_embed_access e
       where e.dashboard_id = d.id and e.embed_tenant = ${embed.embedTenant}) as entry,
      coalesce(${seesDashboard(viewer, embed)}, false) as "isSeen"
    from workbooks w left join dashboards d on d.workbook_id = w.id left join folders f on f.id = w.folder_id
    where w.deployment_id = ${viewer.deploymentId} and ${isPresent('w')}
      and (${isOfTenant('w', null)} or ${isOfTenant('w', embed.embedTenant)})
      and ${workbookId === null ? sql`d.id is not null` : sql`w.id = ${workbookId}`}
    order by "isSeen" desc, w.name, w.id limit ${limit}`);

/** The queries of what is published, in the order of its charts. Charts of SQL have none. */
export const listQueries = (db: Queryable, dashboardId: number) =>
  db.many<{ query: object | null }>(sql`
    select s.snapshot->'query' as query
    from dashboards d join dashboard_versions v on v.dashboard_id = d.id and v.number = d.version_number,
      jsonb_array_elements(v.snapshots) with ordinality s (snapshot, place)
    where d.id = ${dashboardId} and ${isPublished}
    order by s.place`);
