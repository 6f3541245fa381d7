import type { Tx } from '../../platform/db/database.ts';
import { invalid } from '../../platform/errors.ts';
import * as store from './store.ts';

/** Refuses a request that names users who do not exist, in its field `path`. Those who do exist stay until the commit. */
export async function requireUsers(tx: Tx, path: string, ids: readonly number[]): Promise<void> {
  const existing = new Set(await store.listLockedUserIds(tx, ids));
  const missing = ids.filter((id) => !existing.has(id));
  if (missing.length) throw invalid(path, `There is no user ${missing.join(', ')}.`, 'invalid_reference');
}
