import type { Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { giveRoles } from './give-roles.ts';
import * as store from './store.ts';

const refuseTaken = refusing({ users_username_key: 'username_taken', users_email_key: 'email_taken' });

/** Uniqueness is the database's to decide, so that of two parallel calls exactly one succeeds. */
export async function createUser(tx: Tx, user: store.NewUser, roles: string[]): Promise<store.UserRow> {
  const id = await store.insertUser(tx, user).catch(refuseTaken);
  await giveRoles(tx, id, roles);
  return (await store.findUser(tx, id))!;
}
