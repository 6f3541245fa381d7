import { scimUrns } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { literal, type Sql, sql } from '../../platform/db/sql.ts';
import { isPerson } from '../users/index.ts';
import { caseless, type FilterableResource, withCase } from './filter.store.ts';
import { type PageOf, time } from './users.store.ts';

export interface ScimGroupRow {
  id: number;
  name: string;
  externalId: string | null;
  createdAt: string;
  updatedAt: string;
  memberCount: number;
  /** Differs if the members or their names differ. */
  membersDigest: string;
}

export interface ScimMemberRow {
  groupId: number;
  id: number;
  username: string;
}

const MEMBERS = sql`user_group_members m join users u on u.id = m.user_id`;

/** The order of the members does not matter for the digest, so they are not sorted. */
const COLUMNS = sql`
  g.id, g.name, s.external_id as "externalId",
  ${time('g.created_at')} as "createdAt", ${time('g.updated_at')} as "updatedAt",
  c.count as "memberCount", c.digest as "membersDigest"`;

const GROUPS = sql`user_groups g left join scim_groups s on s.group_id = g.id`;

const COUNTED = sql`
  lateral (
    select count(*) as count, coalesce(bit_xor(hashtextextended(u.username, m.user_id)), 0)::text as digest
    from ${MEMBERS} where m.group_id = g.id and ${isPerson}) c`;

const isGroup: Sql = sql`g.embed_tenant is null`;

export const filterableGroups: FilterableResource = {
  urn: scimUrns.group,
  attributes: {
    id: { kind: 'id', value: sql`g.id` },
    displayname: caseless(sql`g.name`),
    externalid: withCase(sql`s.external_id`),
    meta: { kind: 'complex', value: sql`''` },
    'meta.resourcetype': withCase(sql`'Group'`),
    'meta.created': { kind: 'time', value: sql`g.created_at` },
    'meta.lastmodified': { kind: 'time', value: sql`g.updated_at` },
    schemas: caseless(sql`${scimUrns.group}::text`),
  },
  lists: {
    members: {
      element: {
        value: { kind: 'id', value: sql`m.user_id` },
        display: caseless(sql`u.username`),
        type: caseless(sql`'User'`),
      },
      some: (condition) =>
        sql`exists (select from ${MEMBERS} where m.group_id = g.id and ${isPerson} and ${condition})`,
    },
  },
  unkept: [],
};

/** Finds the page first, so that only its groups are counted. */
export const listScimGroups = (db: Queryable, { where, order, offset, limit }: PageOf) =>
  db.many<ScimGroupRow>(sql`
    with page as materialized (
      select g.id, row_number() over (order by ${order}) as place from ${GROUPS} where ${isGroup} and ${where}
      order by ${order} offset ${offset} limit ${literal(limit)})
    select ${COLUMNS} from page join user_groups g on g.id = page.id left join scim_groups s on s.group_id = g.id, ${COUNTED}
    order by page.place`);

export const countScimGroups = async (db: Queryable, where: Sql) =>
  (await db.one<{ count: number }>(sql`select count(*) from ${GROUPS} where ${isGroup} and ${where}`)).count;

export const findScimGroup = (db: Queryable, id: number) =>
  db.maybeOne<ScimGroupRow>(
    sql`select ${COLUMNS} from ${GROUPS}, ${COUNTED} where ${isGroup} and g.id = ${id}`,
  );

/** Only one transaction at a time gives a name to a group by SCIM. */
export const lockNames = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('names of SCIM groups', 0))`);

/** Whether a group other than this one has the name, in any letter case. */
export const hasOtherWithName = async (tx: Tx, name: string, id: number | null) =>
  (await tx.run(sql`
    select from user_groups g
    where ${isGroup} and lower(g.name) = lower(${name}) and g.id is distinct from ${id}::bigint limit 1`)) >
  0;

export const listScimMembers = (db: Queryable, groupIds: readonly number[]) =>
  db.many<ScimMemberRow>(sql`
    select m.group_id as "groupId", u.id, u.username from ${MEMBERS}
    where m.group_id = any(${groupIds}::bigint[]) and ${isPerson} order by m.group_id, u.id`);

export const listMemberIds = async (tx: Tx, groupId: number) =>
  (
    await tx.many<{ id: number }>(
      sql`select u.id from ${MEMBERS} where m.group_id = ${groupId} and ${isPerson} order by u.id`,
    )
  ).map(({ id }) => id);

/** The ids of these users that are people. */
export const listPeopleIds = async (tx: Tx, ids: readonly number[]) =>
  (
    await tx.many<{ id: number }>(
      sql`select u.id from users u where u.id = any(${ids}::bigint[]) and ${isPerson}`,
    )
  ).map(({ id }) => id);

export const saveExternalId = (tx: Tx, groupId: number, externalId: string | null) =>
  externalId === null
    ? tx.run(sql`delete from scim_groups where group_id = ${groupId}`)
    : tx.run(sql`
        insert into scim_groups (group_id, external_id) values (${groupId}, ${externalId})
        on conflict (group_id) do update set external_id = excluded.external_id`);
