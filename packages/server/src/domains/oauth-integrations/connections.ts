import { deleted } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { lockToken, markRevoked } from './tokens.store.ts';

/** The tokens are not used any more. A job tells the service. */
export async function endConnection(tx: Tx, userId: number, integrationId: number, revocation: JobKind) {
  const before = found(await lockToken(tx, userId, integrationId), 'oauth_token_not_found');
  await markRevoked(tx, before.id);
  await enqueue(tx, revocation, {});
  return deleted(before);
}
