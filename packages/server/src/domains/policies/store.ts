import type { Action } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import type { Noun } from '../access/index.ts';
import type { ResourceType } from './rules.ts';

/** The user, group or role that a policy is for. */
export interface Principal {
  column: 'user_id' | 'group_id' | 'role_id';
  id: number;
}

/** Policies are for people, their groups and roles. Embed tenants and their users have no policies. */
const PRINCIPALS = {
  user_id: sql`(select * from users where embed_tenant is null and deleted_at is null) p`,
  group_id: sql`(select * from user_groups where embed_tenant is null) p`,
  role_id: sql`roles`,
};

export interface Resource {
  type: ResourceType;
  id: number;
  deploymentId: number;
}

export type ContentType = Noun | 'Dashboard';

/** The tables that the resources are in. */
const TABLE: Record<ContentType, Sql> = {
  Folder: raw('folders'),
  Workbook: raw('workbooks'),
  Report: raw('reports'),
  Dashboard: raw('dashboards'),
};

/** The same, where each row also has its deployment. */
const PLACED: Record<ContentType, Sql> = {
  ...TABLE,
  Dashboard: raw('(select d.id, w.deployment_id from dashboards d join workbooks w on w.id = d.workbook_id)'),
};

export const findDeploymentOf = async (db: Queryable, type: ContentType, id: number) =>
  (
    await db.maybeOne<{ deploymentId: number }>(sql`
      select c.deployment_id as "deploymentId" from ${PLACED[type]} c join deployments d on d.id = c.deployment_id
      where c.id = ${id}`)
  )?.deploymentId;

/** Nobody can delete the resource until the transaction ends, so that no policy is left without its resource. */
export const lockResource = (tx: Tx, type: ContentType, id: number) =>
  tx.run(sql`select from ${TABLE[type]} where id = ${id} for key share`);

export interface PolicyRow {
  action: Action;
  inheritedFrom: { resourceType: ResourceType; resourceId: number; name: string } | null;
  userId: number | null;
  email: string | null;
  firstName: string | null;
  picture: string | null;
  groupId: number | null;
  groupName: string | null;
  roleId: number | null;
  roleName: string | null;
}

/** The user who reads policies. Everybody sees named policies and their own name; `mayList` means all names. */
export interface Reader {
  userId: number;
  mayList: boolean;
}

/**
 * The policies on the resources. The first resource is the one that the caller asked for, and the others are above it.
 * Names that the reader may not see are null.
 */
export const listPolicies = (
  db: Queryable,
  resources: { type: ResourceType; id: number; name: string }[],
  reader: Reader,
) => {
  const shown = sql`(p.is_named or ${reader.mayList})`;
  return db.many<PolicyRow>(sql`
    select p.action, p.user_id as "userId", u.email, u.first_name as "firstName", u.picture,
           p.group_id as "groupId", g.name as "groupName", p.role_id as "roleId", ro.name as "roleName",
           case when x.depth > 1 then json_build_object('resourceType', x.type, 'resourceId', x.id, 'name', x.name) end as "inheritedFrom"
    from unnest(${resources.map(({ type }) => type)}::text[], ${resources.map(({ id }) => id)}::bigint[],
                ${resources.map(({ name }) => name)}::text[]) with ordinality as x (type, id, name, depth)
    join resource_policies p on p.resource_type = x.type and p.resource_id = x.id
    left join users u on u.id = p.user_id and (${shown} or u.id = ${reader.userId})
    left join user_groups g on g.id = p.group_id and ${shown}
    left join roles ro on ro.id = p.role_id and ${shown}
    order by x.depth, p.user_id, p.group_id, p.role_id`);
};

export const findPolicy = (tx: Tx, resource: Resource, { column, id }: Principal) =>
  tx.maybeOne<{ action: Action }>(sql`
    select action from resource_policies
    where resource_type = ${resource.type} and resource_id = ${resource.id} and ${raw(column)} = ${id} for update`);

/** Returns whether the principal exists. */
export const upsertPolicy = async (
  tx: Tx,
  resource: Resource,
  { column, id }: Principal,
  given: { action: Action; level: number; isNamed: boolean },
) =>
  (await tx.run(sql`
    insert into resource_policies (deployment_id, resource_type, resource_id, ${raw(column)}, action, level, is_named)
    select ${resource.deploymentId}, ${resource.type}, ${resource.id}, id, ${given.action}, ${given.level}, ${given.isNamed}
    from ${PRINCIPALS[column]} where id = ${id} for key share
    on conflict (resource_type, resource_id, ${raw(column)}) where ${raw(column)} is not null
    do update set action = excluded.action, level = excluded.level, is_named = resource_policies.is_named or excluded.is_named`)) ===
  1;

export const deletePolicy = (tx: Tx, resource: Resource, { column, id }: Principal) =>
  tx.run(sql`
    delete from resource_policies
    where resource_type = ${resource.type} and resource_id = ${resource.id} and ${raw(column)} = ${id}`);

export const findWorkbookName = async (db: Queryable, id: number) =>
  (await db.maybeOne<{ name: string }>(sql`select name from workbooks where id = ${id}`))?.name;
