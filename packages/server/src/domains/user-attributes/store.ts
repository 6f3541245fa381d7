/** Only the attributes of the account, not those of embed tenants. */
import type { AttributeValue } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { json, type Sql, sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';
import { isLiving } from '../users/index.ts';
import type { AttributeType } from './rules.ts';

export interface UserAttributeRow {
  id: number;
  name: string;
  type: AttributeType;
  displayName: string | null;
  /** Text for a string, JSON for the others. */
  defaultValue: string | null;
  description: string | null;
}

export interface UserAttributeValueRow extends Omit<UserAttributeRow, 'id'> {
  userAttributeId: number;
  userId: number;
  value: AttributeValue | null;
}

export interface Filter {
  name: string | null;
  type: AttributeType | null;
}

const COLUMNS = sql`
  a.id, a.name, a.type, a.display_name as "displayName", a.default_value as "defaultValue", a.description`;

const matches = ({ name, type }: Filter): Sql => sql`
  a.embed_tenant is null and (${name}::text is null or a.name = ${name}) and (${type}::text is null or a.type = ${type})`;

/** In the order of their ids, after `afterId`. */
export const listUserAttributes = (db: Queryable, filter: Filter, page: PageById & { offset: number }) =>
  db.many<UserAttributeRow>(sql`
    select ${COLUMNS} from user_attributes a where ${matches(filter)} and a.id > ${page.afterId}
    order by a.id limit ${page.limit} offset ${page.offset}`);

export const countUserAttributes = async (db: Queryable, filter: Filter) =>
  (await db.one<{ count: number }>(sql`select count(*) from user_attributes a where ${matches(filter)}`))
    .count;

/** Nobody else can change the attribute until the transaction ends. */
export const lockUserAttribute = (tx: Tx, id: number) =>
  tx.maybeOne<UserAttributeRow>(
    sql`select ${COLUMNS} from user_attributes a where a.embed_tenant is null and a.id = ${id} for update`,
  );

export const insertUserAttribute = (tx: Tx, attribute: Omit<UserAttributeRow, 'id'>) =>
  tx.one<UserAttributeRow>(sql`
    insert into user_attributes as a (name, type, display_name, default_value, description)
    values (${attribute.name}, ${attribute.type}, ${attribute.displayName}, ${attribute.defaultValue}, ${attribute.description})
    returning ${COLUMNS}`);

export const insertMissingAttribute = (tx: Tx, attribute: Omit<UserAttributeRow, 'id'>) =>
  tx.run(sql`
    insert into user_attributes (name, type, display_name, default_value, description)
    values (${attribute.name}, ${attribute.type}, ${attribute.displayName}, ${attribute.defaultValue}, ${attribute.description})
    on conflict do nothing`);

export const updateUserAttribute = (tx: Tx, attribute: Omit<UserAttributeRow, 'name' | 'type'>) =>
  tx.one<UserAttributeRow>(sql`
    update user_attributes a
    set display_name = ${attribute.displayName}, default_value = ${attribute.defaultValue}, description = ${attribute.description}
    where a.id = ${attribute.id} returning ${COLUMNS}`);

export const deleteUserAttribute = (tx: Tx, id: number) =>
  tx.run(sql`delete from user_attributes where id = ${id}`);

const VALUE_COLUMNS = sql`
  a.id as "userAttributeId", u.id as "userId", a.name, a.type, a.display_name as "displayName",
  a.default_value as "defaultValue", a.description, v.value
  from users u cross join user_attributes a
  left join user_attribute_values v on v.user_id = u.id and v.attribute_id = a.id`;

export const listUserAttributeValues = (db: Queryable, userId: number) =>
  db.many<UserAttributeValueRow>(sql`
    select ${VALUE_COLUMNS} where u.id = ${userId} and a.embed_tenant is null order by a.id`);

export const findUserAttributeValue = (db: Queryable, userId: number, attributeId: number) =>
  db.one<UserAttributeValueRow>(sql`
    select ${VALUE_COLUMNS} where u.id = ${userId} and a.id = ${attributeId}`);

export const hasUser = async (db: Queryable, id: number) =>
  (await db.run(sql`select from users u where id = ${id} and ${isLiving}`)) === 1;

/** Returns whether the user exists. The lock lets only one transaction at a time change the values of a user. */
export const lockUser = async (tx: Tx, id: number) =>
  (await tx.run(sql`select from users u where id = ${id} and ${isLiving} for no key update`)) === 1;

/** Returns whether the attribute exists. Nobody can delete it until the transaction ends. */
export const keepUserAttribute = async (tx: Tx, id: number) =>
  (await tx.run(sql`select from user_attributes where id = ${id} and embed_tenant is null for key share`)) ===
  1;

export const upsertUserAttributeValue = (
  tx: Tx,
  userId: number,
  attributeId: number,
  value: AttributeValue,
) =>
  tx.run(sql`
    insert into user_attribute_values (user_id, attribute_id, value)
    values (${userId}, ${attributeId}, ${json(value)})
    on conflict (user_id, attribute_id) do update set value = excluded.value`);

export const deleteUserAttributeValue = (tx: Tx, userId: number, attributeId: number) =>
  tx.run(sql`
    delete from user_attribute_values where user_id = ${userId} and attribute_id = ${attributeId}`);
