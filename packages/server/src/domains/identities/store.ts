import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import { isPerson } from '../users/index.ts';

export interface IdentityKey {
  issuer: string;
  subject: string;
}

export interface IdentityRow {
  id: number;
  userId: number;
  groupIds: number[];
  isDeactivated: boolean;
}

export const findIdentity = (db: Queryable, { issuer, subject }: IdentityKey) =>
  db.maybeOne<IdentityRow>(sql`
    select i.id, i.user_id as "userId", to_json(i.group_ids) as "groupIds", u.is_deactivated as "isDeactivated"
    from identities i join users u on u.id = i.user_id
    where i.issuer = ${issuer} and i.subject = ${subject}`);

export interface LinkedIdentity extends IdentityKey {
  id: number;
  createdAt: string;
}

/** A user has one for each issuer, so there are few. */
export const listIdentities = (db: Queryable, userId: number) =>
  db.many<LinkedIdentity>(sql`
    select id, issuer, subject, created_at as "createdAt" from identities where user_id = ${userId} order by id`);

export const deleteIdentity = (tx: Tx, userId: number, id: number) =>
  tx.maybeOne<IdentityKey & Pick<IdentityRow, 'groupIds'>>(sql`
    delete from identities where user_id = ${userId} and id = ${id}
    returning issuer, subject, to_json(group_ids) as "groupIds"`);

export interface ProvisionedRow {
  id: number;
  isDeactivated: boolean;
  hasSignedIn: boolean;
}

/**
 * Locks the people with this external id who have no identity of this issuer. Two are enough to know that the id is not
 * unique.
 */
export const lockProvisioned = (tx: Tx, externalId: string, issuer: string) =>
  tx.many<ProvisionedRow>(sql`
    select u.id, u.is_deactivated as "isDeactivated", u.last_login is not null as "hasSignedIn" from users u
    where u.external_id = ${externalId} and ${isPerson}
      and not exists (select from identities i where i.user_id = u.id and i.issuer = ${issuer})
    order by u.id limit 2 for no key update of u`);

export const insertIdentity = (tx: Tx, { issuer, subject }: IdentityKey, userId: number) =>
  tx.run(sql`insert into identities (issuer, subject, user_id) values (${issuer}, ${subject}, ${userId})`);

export const updateGroupIds = (tx: Tx, { issuer, subject }: IdentityKey, groupIds: number[]) =>
  tx.run(sql`
    update identities set group_ids = ${groupIds}::bigint[] where issuer = ${issuer} and subject = ${subject}`);

/** The groups of the account that have one of these names, or that the user is in. */
export const listGroups = (tx: Tx, userId: number, names: string[]) =>
  tx.many<{ id: number; isNamed: boolean; isMember: boolean }>(sql`
    select g.id, g.name = any(${names}) as "isNamed", m.user_id is not null as "isMember"
    from user_groups g left join user_group_members m on m.group_id = g.id and m.user_id = ${userId}
    where g.embed_tenant is null and (g.name = any(${names}) or m.user_id is not null)
    order by g.id`);
