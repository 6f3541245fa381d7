import type { Action } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import type { Noun } from '../access/index.ts';
import { shownName } from '../users/index.ts';
import type { ResourceType } from './rules.ts';

/** The user, group or role that a policy is for. */
export interface Principal {
  column: 'user_id' | 'group_id' | 'role_id';
  id: number;
}

/**
 * The principals that a caller can share with: people, their groups and roles, or with an embed token the users and
 * groups of the embed tenant of the token.
 */
const principals = (column: Principal['column'], tenant: string | null): Sql => {
  const isOfTenant = tenant === null ? sql`embed_tenant is null` : sql`embed_tenant = ${tenant}`;
  if (column === 'user_id') return sql`(select * from users where ${isOfTenant} and deleted_at is null) p`;
  if (column === 'group_id') return sql`(select * from user_groups where ${isOfTenant}) p`;
  return sql`(select * from roles where ${tenant === null}) p`;
};

const CANDIDATES_MAX = 20;

const matches = (text: Sql, search: string): Sql => sql`strpos(lower(${text}), lower(${search})) > 0`;

export const listUserCandidates = (db: Queryable, tenant: string | null, search: string) =>
  db.many<{ userId: number; name: string; picture: string | null }>(sql`
    select p.id as "userId", ${shownName('p')} as name, p.picture from ${principals('user_id', tenant)}
    where not p.is_deactivated and ${matches(shownName('p'), search)}
    order by lower(${shownName('p')}), p.id limit ${CANDIDATES_MAX}`);

export const listGroupCandidates = (db: Queryable, tenant: string | null, search: string) =>
  db.many<{ groupId: number; name: string }>(sql`
    select p.id as "groupId", p.name from ${principals('group_id', tenant)}
    where ${matches(sql`p.name`, search)} order by lower(p.name), p.id limit ${CANDIDATES_MAX}`);

export const listRoleCandidates = (db: Queryable, search: string) =>
  db.many<{ roleId: number; name: string }>(sql`
    select p.id as "roleId", p.name from roles p
    where ${matches(sql`p.name`, search)} order by lower(p.name), p.id limit ${CANDIDATES_MAX}`);

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

/**
 * The user who reads policies. Everybody sees the names of people and groups; emails and roles are shown in named policies,
 * and all of them if `mayList`. A reader of an embed tenant sees the policies for its users and groups, without emails.
 */
export interface Reader {
  userId: number;
  mayList: boolean;
  tenant: string | null;
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
  const isKnown =
    reader.tenant === null
      ? sql`true`
      : sql`${reader.tenant} in (coalesce(u.embed_tenant, ''), coalesce(g.embed_tenant, ''))`;
  const seesEmail = reader.tenant === null ? sql`(${shown} or u.id = ${reader.userId})` : sql`false`;
  return db.many<PolicyRow>(sql`
    select p.action, p.user_id as "userId", case when ${seesEmail} then u.email end as email,
           case when ${seesEmail} then u.first_name else ${shownName('u')} end as "firstName", u.picture,
           p.group_id as "groupId", g.name as "groupName", p.role_id as "roleId", ro.name as "roleName",
           case when x.depth > 1 then json_build_object('resourceType', x.type, 'resourceId', x.id, 'name', x.name) end as "inheritedFrom"
    from unnest(${resources.map(({ type }) => type)}::text[], ${resources.map(({ id }) => id)}::bigint[],
                ${resources.map(({ name }) => name)}::text[]) with ordinality as x (type, id, name, depth)
    join resource_policies p on p.resource_type = x.type and p.resource_id = x.id
    left join users u on u.id = p.user_id
    left join user_groups g on g.id = p.group_id
    left join roles ro on ro.id = p.role_id and ${shown}
    where ${isKnown}
    order by x.depth, p.user_id, p.group_id, p.role_id`);
};

/** The policy on the resource for the principal, if the caller may share with it. People may take back every policy. */
const policyFor = (resource: Resource, { column, id }: Principal, tenant: string | null): Sql => {
  const row = sql`resource_type = ${resource.type} and resource_id = ${resource.id} and ${raw(column)} = ${id}`;
  return tenant === null
    ? row
    : sql`${row} and ${raw(column)} in (select id from ${principals(column, tenant)})`;
};

export const findPolicy = (tx: Tx, resource: Resource, principal: Principal, tenant: string | null) =>
  tx.maybeOne<{ action: Action }>(sql`
    select action from resource_policies where ${policyFor(resource, principal, tenant)} for update`);

/** Returns whether the principal exists. */
export const upsertPolicy = async (
  tx: Tx,
  resource: Resource,
  { column, id }: Principal,
  given: { action: Action; level: number; isNamed: boolean },
  tenant: string | null,
) =>
  (await tx.run(sql`
    insert into resource_policies (deployment_id, resource_type, resource_id, ${raw(column)}, action, level, is_named)
    select ${resource.deploymentId}, ${resource.type}, ${resource.id}, id, ${given.action}, ${given.level}, ${given.isNamed}
    from ${principals(column, tenant)} where id = ${id} for key share
    on conflict (resource_type, resource_id, ${raw(column)}) where ${raw(column)} is not null
    do update set action = excluded.action, level = excluded.level, is_named = resource_policies.is_named or excluded.is_named`)) ===
  1;

export const deletePolicy = (tx: Tx, resource: Resource, principal: Principal, tenant: string | null) =>
  tx.run(sql`delete from resource_policies where ${policyFor(resource, principal, tenant)}`);

export const findWorkbookName = async (db: Queryable, id: number) =>
  (await db.maybeOne<{ name: string }>(sql`select name from workbooks where id = ${id}`))?.name;
