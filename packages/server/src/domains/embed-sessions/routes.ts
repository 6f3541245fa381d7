import { operations } from '@oriel/contract';
import { ApiError, isApiError } from '../../platform/errors.ts';
import { createAttemptLimit } from '../../platform/http/attempt-limit.ts';
import { handle } from '../../platform/http/routes.ts';
import type { Platform } from '../../platform/module.ts';
import { createCheckedIds } from '../../platform/secrets/checked-ids.ts';
import { hashSecret } from '../../platform/secrets/random-secrets.ts';
import { dryRun } from './dry-run.ts';
import type { EmbedTokens } from './embed-tokens.ts';
import { createExchange } from './exchange.ts';
import { ledgerRoutes } from './ledger-routes.ts';
import { type MintOptions, mintSession } from './mint.ts';
import type { Revocations } from './revocations.ts';
import { describeViewer } from './viewer.ts';
import { watchToken } from './watch.ts';

const SECRET_BYTES = 24;

/**
 * The limit is per session. It protects the database from a caller who sends an ended session again and again; made-up
 * session ids are refused before this. It does not count by IP address, because many callers may share one address.
 */
const EXCHANGE_FAILURES = { max: 100, perMs: 60_000 };

interface RouteOptions extends Omit<MintOptions, 'db' | 'sessionIds'> {
  revocations: Revocations;
  embedTokens: EmbedTokens;
}

export function embedSessionRoutes(platform: Platform, options: RouteOptions) {
  const { essential: db, cursors, keysFor } = platform;
  const { embedTokens, tenantSettings } = options;
  const sessionIds = createCheckedIds(keysFor('embed session ids'), { secretBytes: SECRET_BYTES });
  const minting = { ...options, db, sessionIds };
  const exchange = createExchange(db);
  const failures = createAttemptLimit(EXCHANGE_FAILURES);
  return [
    handle(operations.generateSession, (call, { body }) => mintSession(minting, call, body)),
    handle(operations.dryRunSession, (call, { body }) => dryRun(minting, call, body)),

    handle(operations.postTokenBySessionId, async (_call, { body }) => {
      const given = sessionIds.parse(body.sessionId);
      if (!given) throw new ApiError('invalid_session');
      const giveBack = failures.begin(String(given.id));
      try {
        // Gets the signer first: if signing failed after the exchange, the session would be lost.
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

    handle(operations.watchEmbedSession, ({ actor, signal }) => watchToken(embedTokens, actor.embed, signal)),

    ...ledgerRoutes({ cursors, revocations: options.revocations }),
  ];
}
