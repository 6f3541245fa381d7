/** A person changes their own password. */
import type { Change } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { findPerson, hashNewPassword, setPassword } from '../users/index.ts';
import type { SignIn, SignInOrigin } from './sign-in.ts';

/**
 * Verifies the current password and hashes the new one, which is slow. The function that it returns stores the new
 * password, ends all sessions of the person, and returns the change for the audit log.
 */
export async function prepareOwnPassword(
  db: Queryable,
  signIn: SignIn,
  userId: number,
  { currentPassword, newPassword }: { currentPassword: string; newPassword: string },
  origin: SignInOrigin,
): Promise<(tx: Tx) => Promise<Change>> {
  const proven = await signIn.proveAgain(userId, currentPassword, origin);
  const person = await findPerson(db, userId);
  const passwordHash = await hashNewPassword('newPassword', newPassword, person, origin.ip);
  return async (tx) =>
    found(await setPassword(tx, userId, passwordHash, proven.passwordHash), 'wrong_password');
}
