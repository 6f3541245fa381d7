/** For the pages: what the person who is signed in is connected to, and can be. */
import { deleted } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { found } from '../../platform/errors.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import type { Connections } from '../pages/index.ts';
import type { Flows } from './flows.ts';
import type { Integrations } from './integrations.ts';
import { listTokens, lockToken, markRevoked } from './tokens.store.ts';

interface Options {
  integrations: Integrations;
  flows: Flows;
  revocation: JobKind;
}

export const createConnections = ({ integrations, flows, revocation }: Options): Connections => ({
  async list(db, userId) {
    const all = await integrations.list(db);
    const tokens = new Map((await listTokens(db, userId)).map((token) => [token.integrationId, token]));
    return all.map(({ id, name }) => {
      const token = tokens.get(id);
      const { status = null, lastError = null, createdAt: since = null } = token ?? {};
      return { id, name, status, lastError, since };
    });
  },
  begin: flows.begin,
  finish: flows.finish,
  end: (tx, userId, integrationId) => endConnection(tx, userId, integrationId, revocation),
});

/** The tokens are not used any more. A job tells the service. */
export async function endConnection(tx: Tx, userId: number, integrationId: number, revocation: JobKind) {
  const before = found(await lockToken(tx, userId, integrationId), 'oauth_token_not_found');
  await markRevoked(tx, before.id);
  await enqueue(tx, revocation, {});
  return deleted(before);
}
