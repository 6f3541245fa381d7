import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { json, raw, type Sql, sql } from '../../platform/db/sql.ts';
import { tooLarge } from '../../platform/limits.ts';
import { ADMIN_ROLE } from './rules.ts';

/** A person or an external viewer of an embed tenant. */
export interface UserRow {
  id: number;
  username: string;
  email: string;
  embedTenant: string | null;
  firstName: string | null;
  title: string | null;
  picture: string | null;
  externalId: string | null;
  isDeactivated: boolean;
  notifications: object;
  settings: object | null;
  tosAccepted: object | null;
  createdAt: string;
  updatedAt: string;
  lastLogin: string | null;
  /** Names, sorted. */
  roles: string[];
  isAdmin: boolean;
}

/** The name of a user for others: never an address, which can be what a user signs in with or is known by. */
export const shownName = (user: string): Sql => {
  const u = raw(user);
  return sql`coalesce(nullif(${u}.first_name, ''), split_part(coalesce(${u}.external_id, ${u}.username), '@', 1))`;
};

/** A user without the fields that are too large for a list. */
export type ListedUser = Omit<UserRow, 'settings' | 'tosAccepted'>;

export interface NewUser {
  username: string;
  email: string;
  passwordHash: string | null;
  firstName: string | null;
  title?: string | null;
  picture: string | null;
  externalId: string | null;
}

export type ChangedUser = Pick<
  UserRow,
  | 'id'
  | 'username'
  | 'email'
  | 'externalId'
  | 'firstName'
  | 'title'
  | 'picture'
  | 'isDeactivated'
  | 'notifications'
  | 'settings'
  | 'tosAccepted'
  | 'lastLogin'
>;

/** Apart from `UserRow`, because these values are large and nobody who reads users needs them. */
export interface UserContext {
  embedTheme: object | null;
  securityContext: object | null;
}

/** The form in which usernames and the names of `sign_in_names` are compared: without case, and with equal letters for different forms of a letter. */
export const usernameKey = (username: string | Sql): Sql => sql`lower(normalize(${username}, nfkc))`;

/** True if the user `u` is a person of the account, and was not deleted. */
export const isPerson: Sql = sql`u.embed_tenant is null and u.deleted_at is null`;

/** True if neither the user `u` nor their embed tenant was deleted. */
export const isLiving: Sql = sql`u.deleted_at is null and coalesce(u.embed_tenant, '') not like '~%'`;

const time = (column: string) =>
  raw(`to_char(u.${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`);

/** The columns of a `ListedUser`, for the user `u` with `ROLES`. */
export const LISTED = sql`
  u.id, u.username, u.shown_email as email, u.embed_tenant as "embedTenant", u.first_name as "firstName", u.title,
  u.picture, u.external_id as "externalId", u.is_deactivated as "isDeactivated", u.notifications,
  ${time('created_at')} as "createdAt", ${time('updated_at')} as "updatedAt", ${time('last_login')} as "lastLogin",
  r.names as roles, r.admin as "isAdmin"`;

/** The names of the roles of the user `u`, and whether one of them makes the user an admin. */
export const ROLES = sql`
  lateral (
    select coalesce(json_agg(r.name order by r.name collate "C"), '[]') as names,
           coalesce(bool_or('All' = any(r.actions)), false) as admin
    from user_roles ur join roles r on r.id = ur.role_id
    where ur.user_id = u.id) r`;

/** The user `u` as one column of JSON, because reading seventeen columns took the server twice as long. */
const USER = sql`
  select row_to_json(found) as found from (
    select ${LISTED}, u.settings, u.tos_accepted as "tosAccepted" from users u, ${ROLES} where ${isLiving} and u.id = `;

export const findUser = async (db: Queryable, id: number) =>
  (await db.maybeOne<{ found: UserRow }>(sql`${USER}${id}) found`.named('find-user')))?.found;

/**
 * Until the end of the transaction, no other transaction can change the user or give anything to them. Read the user's
 * roles in a separate statement after this one: a statement that waited for the lock would see the old roles.
 */
export const lockUser = (tx: Tx, id: number) => tx.run(sql`select from users where id = ${id} for update`);

/** Like `lockUser`, but others may still give something to the user, such as a group. What ends sessions waits. */
export const lockSigningIn = (tx: Tx, id: number) =>
  tx.run(sql`select from users where id = ${id} for no key update`);

/** Like `lockUser`, for several users. They are locked in the order of their ids, so that two calls do not block each other. */
export const lockUsers = (tx: Tx, ids: readonly number[]) =>
  tx.run(sql`select from users where id = any(${ids}::bigint[]) order by id for update`);

/** Returns the ids of the given users that exist. These users cannot be deleted until the end of the transaction. */
export const listLockedUserIds = async (tx: Tx, ids: readonly number[]) =>
  (
    await tx.many<{ id: number }>(
      sql`select id from users u where id = any(${ids}::bigint[]) and ${isLiving} order by id for key share`,
    )
  ).map(({ id }) => id);

/** Returns whether the person exists and is active. The lock keeps this true until the end of the transaction. */
export const lockActiveUser = async (tx: Tx, id: number) =>
  (await tx.run(
    sql`select from users where id = ${id} and embed_tenant is null and not is_deactivated for share`,
  )) === 1;

export const insertUser = async (tx: Tx, user: NewUser) =>
  (
    await tx.one<{ id: number }>(sql`
      insert into users (username, email, password_hash, first_name, title, picture, external_id)
      values (${user.username}, ${user.email}, ${user.passwordHash}, ${user.firstName}, ${user.title ?? null}, ${user.picture}, ${user.externalId})
      returning id`)
  ).id;

/** Gives the user the roles with these names. Returns the names of the roles that exist. */
export const insertUserRoles = async (tx: Tx, userId: number, roleNames: string[]) =>
  (
    await tx.many<{ name: string }>(sql`
      with given as (
        insert into user_roles (user_id, role_id)
        select ${userId}, id from roles where name = any(${roleNames}) returning role_id)
      select name from roles where id in (select role_id from given)`)
  ).map(({ name }) => name);

export const deleteUserRoles = (tx: Tx, userId: number) =>
  tx.run(sql`delete from user_roles where user_id = ${userId}`);

const refuseOversize = refusing({
  users_notifications_max_128_kb: tooLarge('notifications', 128),
  users_settings_max_128_kb: tooLarge('settings', 128),
  users_tos_accepted_max_128_kb: tooLarge('tosAccepted', 128),
});

/** If `passwordHash` is null, the old password stays. */
export const updateUser = (tx: Tx, user: ChangedUser, passwordHash: string | null) =>
  tx
    .run(sql`
    update users
    set username = ${user.username}, email = ${user.email}, external_id = ${user.externalId}, first_name = ${user.firstName}, title = ${user.title}, picture = ${user.picture},
        is_deactivated = ${user.isDeactivated}, notifications = ${json(user.notifications)}, settings = ${json(user.settings)},
        tos_accepted = ${json(user.tosAccepted)}, last_login = ${user.lastLogin}, password_hash = coalesce(${passwordHash}, password_hash),
        updated_at = now()
    where id = ${user.id}`)
    .catch(refuseOversize);

export const findUserContext = (db: Queryable, id: number) =>
  db.maybeOne<UserContext>(sql`
    select embed_theme as "embedTheme", security_context as "securityContext" from users u
    where u.id = ${id} and ${isLiving}`);

export const updateUserContext = (tx: Tx, id: number, { embedTheme, securityContext }: UserContext) =>
  tx.run(sql`
    update users set embed_theme = ${json(embedTheme)}, security_context = ${json(securityContext)} where id = ${id}`);

/**
 * Records a sign-in. Returns whether the person is active and, if a hash is given, still has this password. Nobody else
 * can change the user until the transaction ends.
 */
export const noteSignIn = async (tx: Tx, id: number, passwordHash: string | null) =>
  (await tx.run(sql`
    update users set last_login = now()
    where id = ${id} and embed_tenant is null and deleted_at is null and not is_deactivated
      and password_hash is not distinct from coalesce(${passwordHash}, password_hash)`)) === 1;

/** Returns whether the person is active and, if a hash is given, had this password. Ends all of their sessions. */
export const updatePassword = async (tx: Tx, id: number, passwordHash: string, previousHash: string | null) =>
  (await tx.run(sql`
    update users set password_hash = ${passwordHash}, updated_at = now()
    where id = ${id} and embed_tenant is null and deleted_at is null and not is_deactivated
      and password_hash is not distinct from coalesce(${previousHash}, password_hash)`)) === 1;

/** Returns whether there was one. Ends all sessions of the person. */
export const deletePassword = async (tx: Tx, id: number) =>
  (await tx.run(sql`
    update users set password_hash = null, updated_at = now() where id = ${id} and password_hash is not null`)) ===
  1;

export const hasPassword = async (db: Queryable, id: number) =>
  (await db.maybeOne<{ id: number }>(
    sql`select id from users where id = ${id} and password_hash is not null`,
  )) !== undefined;

/** Returns whether this user is about to receive the content of a deleted user. */
export const isHeir = async (tx: Tx, id: number) =>
  (await tx.one<{ exists: boolean }>(sql`select exists (select from users where heir_id = ${id})`)).exists;

/**
 * Hides the user and deletes their roles and password. Their name and email are free at once. Their content shows them
 * as its owner until the heir has it.
 */
export async function hideUser(tx: Tx, user: UserRow, heirId: number | null): Promise<void> {
  await deleteUserRoles(tx, user.id);
  await tx.run(sql`
    update users set deleted_at = now(), heir_id = ${heirId}, is_deactivated = true, password_hash = null,
      email = shown_email, embed_tenant = null
    where id = ${user.id}`);
  // The user is no longer in an embed tenant, so the trigger does not count them when their row is deleted.
  if (user.embedTenant !== null) await uncountExternalUsers(tx, 1);
}

const uncountExternalUsers = (tx: Tx, users: number) =>
  tx.run(sql`update external_user_count set count = count - ${users} where singleton`);

/** Users of a deleted embed tenant do not count towards the limit. Returns how many there are. */
export const uncountUsersOf = async (tx: Tx, hiddenName: string) => {
  const { users } = await tx.one<{ users: number }>(
    sql`select count(*) as users from users where embed_tenant = ${hiddenName}`,
  );
  if (users > 0) await uncountExternalUsers(tx, users);
  return users;
};

export const findHeirId = async (db: Queryable, userId: number) =>
  (
    await db.maybeOne<{ heirId: number | null }>(
      sql`select heir_id as "heirId" from users where id = ${userId}`,
    )
  )?.heirId;

export const deleteUser = (db: Queryable, id: number) => db.run(sql`delete from users where id = ${id}`);

/** Only one transaction at a time can hold this lock. The role is built in, so its row always exists. */
export const lockAdminRole = (tx: Tx) =>
  tx.run(sql`select from roles where name = ${ADMIN_ROLE} for no key update`);

export const hasActiveAdmin = async (tx: Tx) =>
  (
    await tx.one<{ exists: boolean }>(sql`
      select exists (
        select from users u join user_roles ur on ur.user_id = u.id join roles r on r.id = ur.role_id
        where not u.is_deactivated and 'All' = any(r.actions))`)
  ).exists;

export const countPeople = async (db: Queryable) =>
  (
    await db.one<{ count: number }>(
      sql`select count(*) from users where embed_tenant is null and deleted_at is null`,
    )
  ).count;

/** For external viewers, the use of a token counts as a login. A time before the stored one changes nothing. */
export const noteLogins = async (tx: Tx, logins: { userId: number; at: string }[]) => {
  if (!logins.length) return;
  await tx.run(sql`
    update users u set last_login = l.at
    from (select id, max(at) as at
          from unnest(${logins.map(({ userId }) => userId)}::bigint[], ${logins.map(({ at }) => at)}::timestamptz[]) as s (id, at)
          group by id) l
    where u.id = l.id and u.embed_tenant is not null and (u.last_login is null or u.last_login < l.at)`);
};
