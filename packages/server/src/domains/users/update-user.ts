import type { BodyOf, operations } from '@oriel/contract';
import type { Tx } from '../../platform/db/database.ts';
import { giveRoles } from './give-roles.ts';
import { requireRemainingAdmin } from './last-admin.ts';
import { rolesOfChangedUser, wantedNotifications } from './rules.ts';
import * as store from './store.ts';

type Asked = Omit<BodyOf<typeof operations.updateUser>, 'password' | keyof store.UserContext>;

/** `before` is locked. Null clears what a user can be without; elsewhere it means the same as nothing. */
export async function updateUser(
  tx: Tx,
  before: store.UserRow,
  asked: Asked,
  passwordHash: string | null,
): Promise<store.UserRow> {
  const { firstName, title, picture, settings, tosAccepted, lastLogin } = { ...before, ...asked };
  const isDeactivated = asked.isDeactivated ?? before.isDeactivated;
  const notifications = asked.notifications ? wantedNotifications(asked.notifications) : before.notifications;
  await store.updateUser(
    tx,
    {
      id: before.id,
      firstName,
      title,
      picture,
      settings,
      tosAccepted,
      lastLogin,
      isDeactivated,
      notifications,
    },
    passwordHash,
  );
  const roles = rolesOfChangedUser(before.roles, asked);
  if (roles) {
    await store.deleteUserRoles(tx, before.id);
    await giveRoles(tx, before.id, roles);
  }
  if (roles || asked.isDeactivated) await requireRemainingAdmin(tx);
  return (await store.findUser(tx, before.id))!;
}

/** What is absent stays, and null clears. Answers what it was and what it is, or nothing where nothing was asked for. */
export async function updateUserContext(tx: Tx, id: number, asked: Partial<store.UserContext>) {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined);
  if (!given.length) return undefined;
  const before = await store.findUserContext(tx, id);
  const after = { ...before, ...Object.fromEntries(given) };
  await store.updateUserContext(tx, id, after);
  return { before, after };
}
