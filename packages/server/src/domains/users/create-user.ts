import { type Tx, violatedConstraint } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import * as store from './store.ts';

/** Uniqueness is the database's to decide, so that of two parallel calls exactly one succeeds. */
export async function createUser(tx: Tx, user: store.NewUser, roles: string[]): Promise<store.UserRow> {
  const id = await store.insertUser(tx, user).catch((error) => {
    const constraint = violatedConstraint(error);
    if (constraint === 'users_username_key') throw new ApiError('username_taken');
    if (constraint === 'users_email_key') throw new ApiError('email_taken');
    throw error;
  });
  const given = await store.insertUserRoles(tx, id, roles);
  const missing = roles.filter((name) => !given.includes(name));
  if (missing.length) {
    const message = `There is no role ${missing.map((name) => JSON.stringify(name)).join(', ')}.`;
    throw new ApiError('invalid_reference', { message, issues: [{ path: 'roles', message }] });
  }
  return (await store.findUser(tx, id))!;
}
