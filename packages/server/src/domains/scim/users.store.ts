import { scimLimits, scimUrns } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { literal, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { isPerson, usernameKey } from '../users/index.ts';
import { caseless, type FilterableResource, withCase } from './filter.store.ts';

/** The parts of a name that only SCIM knows. The given name is the user's `firstName`. */
export interface Names {
  displayName: string | null;
  formattedName: string | null;
  familyName: string | null;
  middleName: string | null;
  honorificPrefix: string | null;
  honorificSuffix: string | null;
}

export interface ScimUserRow extends Names {
  id: number;
  username: string;
  email: string;
  externalId: string | null;
  firstName: string | null;
  title: string | null;
  isDeactivated: boolean;
  createdAt: string;
  updatedAt: string;
  groups: { id: number; name: string }[];
}

export const time = (column: string) =>
  raw(`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);

/** The groups of `u`, as `m` and `g`. */
const USER_GROUPS = sql`
  user_group_members m join user_groups g on g.id = m.group_id where m.user_id = u.id and g.embed_tenant is null`;

const COLUMNS = sql`
  u.id, u.username, u.shown_email as email, u.external_id as "externalId", u.first_name as "firstName", u.title,
  u.is_deactivated as "isDeactivated", ${time('u.created_at')} as "createdAt", ${time('u.updated_at')} as "updatedAt",
  s.display_name as "displayName", s.formatted_name as "formattedName", s.family_name as "familyName",
  s.middle_name as "middleName", s.honorific_prefix as "honorificPrefix", s.honorific_suffix as "honorificSuffix",
  (select coalesce(json_agg(json_build_object('id', shown.id, 'name', shown.name) order by shown.id), '[]') from (
    select g.id, g.name from ${USER_GROUPS} order by m.group_id limit ${literal(scimLimits.listedGroups)}) shown) as groups`;

const NAMES = sql`left join scim_users s on s.user_id = u.id`;
const USERS = sql`users u ${NAMES}`;

/** Every user has exactly one email that SCIM knows. */
const email = {
  value: caseless(sql`u.email`),
  type: caseless(sql`'work'`),
  // A bare constant could not be sorted by.
  primary: { kind: 'boolean', value: sql`true::boolean` },
} as const;

export const filterableUsers: FilterableResource = {
  urn: scimUrns.user,
  attributes: {
    id: { kind: 'id', value: sql`u.id` },
    username: { kind: 'text', value: sql`u.username`, key: usernameKey },
    externalid: withCase(sql`u.external_id`),
    displayname: caseless(sql`s.display_name`),
    title: caseless(sql`u.title`),
    active: { kind: 'boolean', value: sql`(not u.is_deactivated)` },
    name: {
      kind: 'complex',
      value: sql`coalesce(u.first_name, s.formatted_name, s.family_name, s.middle_name, s.honorific_prefix, s.honorific_suffix)`,
    },
    'name.givenname': caseless(sql`u.first_name`),
    'name.formatted': caseless(sql`s.formatted_name`),
    'name.familyname': caseless(sql`s.family_name`),
    'name.middlename': caseless(sql`s.middle_name`),
    'name.honorificprefix': caseless(sql`s.honorific_prefix`),
    'name.honorificsuffix': caseless(sql`s.honorific_suffix`),
    emails: email.value,
    'emails.value': email.value,
    'emails.type': email.type,
    'emails.primary': email.primary,
    meta: { kind: 'complex', value: sql`''` },
    'meta.resourcetype': withCase(sql`'User'`),
    'meta.created': { kind: 'time', value: sql`u.created_at` },
    'meta.lastmodified': { kind: 'time', value: sql`u.updated_at` },
    schemas: caseless(sql`${scimUrns.user}::text`),
  },
  lists: {
    emails: { element: email, some: (condition) => condition },
    groups: {
      element: {
        value: { kind: 'id', value: sql`m.group_id` },
        display: caseless(sql`g.name`),
        type: caseless(sql`'direct'`),
      },
      some: (condition) => sql`exists (select from ${USER_GROUPS} and ${condition})`,
    },
  },
  unkept: [
    'addresses',
    'entitlements',
    'ims',
    'locale',
    'nickname',
    'password',
    'phonenumbers',
    'photos',
    'preferredlanguage',
    'profileurl',
    'roles',
    'timezone',
    'usertype',
    'x509certificates',
  ],
};

export interface PageOf {
  where: Sql;
  order: Sql;
  offset: number;
  limit: number;
}

/** Finds the page first, so that only the groups of its users are read. */
export const listScimUsers = (db: Queryable, { where, order, offset, limit }: PageOf) =>
  db.many<ScimUserRow>(sql`
    with page as materialized (
      select u.id, row_number() over (order by ${order}) as place from ${USERS} where ${isPerson} and ${where}
      order by ${order} offset ${offset} limit ${literal(limit)})
    select ${COLUMNS} from page join users u on u.id = page.id ${NAMES} order by page.place`);

export const countScimUsers = async (db: Queryable, where: Sql) =>
  (await db.one<{ count: number }>(sql`select count(*) from ${USERS} where ${isPerson} and ${where}`)).count;

export const findScimUser = (db: Queryable, id: number) =>
  db.maybeOne<ScimUserRow>(sql`select ${COLUMNS} from ${USERS} where ${isPerson} and u.id = ${id}`);

/** Most users of an installation do not come from an identity provider, and have no row. */
export const saveNames = (tx: Tx, userId: number, names: Names) =>
  tx.run(sql`
    insert into scim_users (user_id, display_name, formatted_name, family_name, middle_name, honorific_prefix, honorific_suffix)
    values (${userId}, ${names.displayName}, ${names.formattedName}, ${names.familyName}, ${names.middleName},
            ${names.honorificPrefix}, ${names.honorificSuffix})
    on conflict (user_id) do update set
      display_name = excluded.display_name, formatted_name = excluded.formatted_name,
      family_name = excluded.family_name, middle_name = excluded.middle_name,
      honorific_prefix = excluded.honorific_prefix, honorific_suffix = excluded.honorific_suffix`);
