import { operations } from '@oriel/contract';
import type { EmbedTokens } from '../../platform/auth/embed-tokens.ts';
import type { Revocations } from '../../platform/auth/revocations.ts';
import { SIGNING_ALGORITHM, type SigningKeys } from '../../platform/auth/signing-keys.ts';
import { ApiError, isApiError } from '../../platform/errors.ts';
import { createFailureLimit } from '../../platform/http/failure-limit.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { dryRun } from './dry-run.ts';
import { createExchange } from './exchange.ts';
import { ledgerRoutes } from './ledger-routes.ts';
import { type MintOptions, mintSession } from './mint.ts';
import { createSessionIds, hashSecret } from './session-ids.ts';
import { describeViewer } from './viewer.ts';

/**
 * Of one session. What somebody made up never gets here; this keeps who repeats a session that has ended from keeping
 * the database busy. Addresses do not count: behind one may be many who have nothing to do with it.
 */
const EXCHANGE_FAILURES = { max: 100, perMs: 60_000 };

export interface EmbedSessionOptions extends Omit<MintOptions, 'db' | 'sessionIds'> {
  revocations: Revocations;
  embedTokens: EmbedTokens;
  signingKeys: SigningKeys;
}

export function embedSessionRoutes(platform: Platform, options: EmbedSessionOptions) {
  const { essential: db, cursors, keyFor } = platform;
  const { embedTokens, signingKeys, tenantSettings } = options;
  const sessionIds = createSessionIds(keyFor('embed session ids'));
  const minting = { ...options, db, sessionIds };
  const exchange = createExchange(db);
  const failures = createFailureLimit(EXCHANGE_FAILURES);
  return [
    handle(operations.generateSession, (call, { body }) => mintSession(minting, call, body)),
    handle(operations.dryRunSession, (call, { body }) => dryRun(minting, call, body)),

    handle(operations.postTokenBySessionId, async (_call, { body }) => {
      const given = sessionIds.parse(body.sessionId);
      if (!given) throw new ApiError('invalid_session');
      const giveBack = failures.begin(String(given.id));
      try {
        // First: a session that is used up and then can not be signed for is lost.
        const sign = await embedTokens.signer();
        const session = await exchange({ id: given.id, secretHash: hashSecret(given.secret) });
        if (!session) throw new ApiError('invalid_session');
        giveBack();
        return { token: sign(session) };
      } catch (error) {
        if (!isApiError(error, 'invalid_session')) giveBack();
        throw error;
      }
    }),

    handle(operations.getEmbedSession, ({ actor, db }) => describeViewer(db, tenantSettings, actor.embed)),

    handle(operations.getJwks, async () => ({
      keys: (await signingKeys.all()).map(({ id, publicKey }) => {
        const { kty, crv, x } = publicKey.export({ format: 'jwk' }) as {
          kty: string;
          crv: string;
          x: string;
        };
        return { kty, crv, x, kid: id, alg: SIGNING_ALGORITHM, use: 'sig' };
      }),
    })),

    ...ledgerRoutes({ cursors, revocations: options.revocations }),
  ];
}
