import type { BodyOf, operations } from '@oriel/contract';
import type { Tx } from '../../platform/db/database.ts';
import { giveRoles } from './give-roles.ts';
import { requireRemainingAdmin } from './last-admin.ts';
import { rolesOfChangedUser, wantedNotifications } from './rules.ts';
import * as store from './store.ts';

type Asked = Omit<BodyOf<typeof operations.updateUser>, 'password'>;

/** `before` is locked. Null clears what a user can be without; elsewhere it means the same as nothing. */
export async function updateUser(
  tx: Tx,
  before: store.UserRow,
  asked: Asked,
  passwordHash: string | null,
): Promise<store.UserRow> {
  const { firstName, title, picture, settings, tosAccepted } = { ...before, ...asked };
  const isDeactivated = asked.isDeactivated ?? before.isDeactivated;
  const notifications = asked.notifications ? wantedNotifications(asked.notifications) : before.notifications;
  await store.updateUser(
    tx,
    { id: before.id, firstName, title, picture, settings, tosAccepted, isDeactivated, notifications },
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
