import { type Tx, violatedConstraint } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { giveRoles } from './give-roles.ts';
import * as store from './store.ts';

/** Uniqueness is the database's to decide, so that of two parallel calls exactly one succeeds. */
export async function createUser(tx: Tx, user: store.NewUser, roles: string[]): Promise<store.UserRow> {
  const id = await store.insertUser(tx, user).catch((error) => {
    const constraint = violatedConstraint(error);
    if (constraint === 'users_username_key') throw new ApiError('username_taken');
    if (constraint === 'users_email_key') throw new ApiError('email_taken');
    throw error;
  });
  await giveRoles(tx, id, roles);
  return (await store.findUser(tx, id))!;
}
