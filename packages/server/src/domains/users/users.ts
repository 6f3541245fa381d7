/** Creates and changes users, and checks users for other domains. */
import type { BodyOf, operations } from '@oriel/contract';
import { type Change, changed } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { requireReadableUsername, rolesOfChangedUser, wantedNotifications } from './rules.ts';
import * as store from './store.ts';

const refuseTaken = refusing({ users_username_key: 'username_taken', users_email_key: 'email_taken' });

/** The database decides whether a name is taken, so that exactly one of two parallel calls succeeds. */
export async function createUser(tx: Tx, user: store.NewUser, roles: string[]): Promise<store.UserRow> {
  requireReadableUsername(user.username);
  const id = await store.insertUser(tx, user).catch(refuseTaken);
  await giveRoles(tx, id, roles);
  return (await store.findUser(tx, id))!;
}

export async function lockUser(tx: Tx, id: number): Promise<store.UserRow> {
  await store.lockUser(tx, id);
  return found(await store.findUser(tx, id), 'user_not_found');
}

/** Sessions alone create and change external users, so for other operations they do not exist. */
const requirePerson = (user: store.UserRow | undefined) =>
  found(user?.embedTenant === null ? user : undefined, 'user_not_found');

export const findPerson = async (db: Queryable, id: number) => requirePerson(await store.findUser(db, id));

/** Like `findPerson`. Nobody else can change the person until the transaction ends. */
export const lockPerson = async (tx: Tx, id: number) => requirePerson(await lockUser(tx, id));

type UserUpdate = Omit<BodyOf<typeof operations.updateUser>, 'password' | keyof store.UserContext> &
  Partial<Pick<store.UserRow, 'username' | 'email' | 'externalId'>>;

/** The caller has locked `before`. Null clears an optional field; for other fields, null changes nothing. */
export async function updateUser(
  tx: Tx,
  before: store.UserRow,
  asked: UserUpdate,
  passwordHash: string | null = null,
): Promise<store.UserRow> {
  const { notifications, roles: _roles, isAdmin: _isAdmin, isDeactivated, ...fields } = asked;
  if (asked.username !== undefined) requireReadableUsername(asked.username);
  const after = {
    ...before,
    ...fields,
    isDeactivated: isDeactivated ?? before.isDeactivated,
    notifications: notifications ? wantedNotifications(notifications) : before.notifications,
  };
  await store.updateUser(tx, after, passwordHash).catch(refuseTaken);
  const roles = rolesOfChangedUser(before.roles, asked);
  if (roles) {
    await store.deleteUserRoles(tx, before.id);
    await giveRoles(tx, before.id, roles);
  }
  if (roles || isDeactivated) await requireRemainingAdmin(tx);
  return (await store.findUser(tx, before.id))!;
}

/** Shows in the audit log that the password changed. The log masks the field, so the value does not matter. */
export const NEW_PASSWORD = { password: 'changed' };

/**
 * Ends all sessions of the person. Returns the change for the audit log, or undefined if the person is not active or, if
 * a hash is given, has another password than that.
 */
export async function setPassword(
  tx: Tx,
  id: number,
  passwordHash: string,
  previousHash: string | null = null,
): Promise<Change | undefined> {
  const isSet = await store.updatePassword(tx, id, passwordHash, previousHash);
  return isSet ? changed({}, { id, ...NEW_PASSWORD }) : undefined;
}

/** The person signs in with a provider from now on. Returns the change for the audit log, or undefined without a password. */
export async function removePassword(tx: Tx, id: number): Promise<Change | undefined> {
  const isRemoved = await store.deletePassword(tx, id);
  return isRemoved ? changed({ id, ...NEW_PASSWORD }, { id, password: null }) : undefined;
}

/** An absent field stays, and null clears it. Returns the values before and after, or undefined without any field. */
export async function updateUserContext(tx: Tx, id: number, asked: Partial<store.UserContext>) {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  if (!given.length) return undefined;
  const before = (await store.findUserContext(tx, id))!;
  const after = { ...before, ...Object.fromEntries(given) };
  await store.updateUserContext(tx, id, after);
  return { before, after };
}

/** Another transaction deleted the role while this one gave it to the user. */
const refuseDeleted = refusing({
  user_roles_role_id_fkey: () => invalid('roles', 'A role has just been deleted.', 'invalid_reference'),
});

/** Gives the user each of the roles with these names, or refuses the request. */
export async function giveRoles(tx: Tx, userId: number, names: string[]): Promise<void> {
  const given = await store.insertUserRoles(tx, userId, names).catch(refuseDeleted);
  const missing = names.filter((name) => !given.includes(name));
  if (missing.length) {
    const message = `There is no role ${missing.map((name) => JSON.stringify(name)).join(', ')}.`;
    throw new ApiError('invalid_reference', { message, issues: [{ path: 'roles', message }] });
  }
}

/**
 * Call this after every change that may take the action `All` from a user. The lock makes such changes finish one at a
 * time, and the check comes after the lock, so that two changes cannot each rely on an admin whom the other removes.
 */
export async function requireRemainingAdmin(tx: Tx): Promise<void> {
  await store.lockAdminRole(tx);
  if (!(await store.hasActiveAdmin(tx))) throw new ApiError('last_admin');
}

/** Refuses a request whose field `path` names a missing user. The other users cannot be deleted until the commit. */
export async function requireUsers(tx: Tx, path: string, ids: readonly number[]): Promise<void> {
  const existing = new Set(await store.listLockedUserIds(tx, ids));
  const missing = ids.filter((id) => !existing.has(id));
  if (missing.length) throw invalid(path, `There is no user ${missing.join(', ')}.`, 'invalid_reference');
}
