import type { Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, invalid } from '../../platform/errors.ts';
import * as store from './store.ts';

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
