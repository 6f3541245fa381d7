import { operations } from '@oriel/contract';
import type { EmbedTokens } from '../../platform/auth/embed-tokens.ts';
import { SIGNING_ALGORITHM, type SigningKeys } from '../../platform/auth/signing-keys.ts';
import { ApiError } from '../../platform/errors.ts';
import { createFailureLimit } from '../../platform/http/failure-limit.ts';
import { handle } from '../../platform/http/routes.ts';
import { dryRun } from './dry-run.ts';
import { createExchange } from './exchange.ts';
import { type LedgerOptions, ledgerRoutes } from './ledger/routes.ts';
import { hashSecret, type MintOptions, mintSession } from './mint.ts';
import { parseSessionId } from './rules.ts';
import { viewerOf } from './viewer.ts';

/** Session ids can not be guessed; this keeps those who try from keeping the database busy. */
const EXCHANGE_FAILURES = { max: 300, perMs: 60_000 };

export interface EmbedSessionOptions extends MintOptions, LedgerOptions {
  embedTokens: EmbedTokens;
  signingKeys: SigningKeys;
}

export function embedSessionRoutes(options: EmbedSessionOptions) {
  const { embedTokens, signingKeys, tenantSettings } = options;
  const exchange = createExchange(options.db);
  const failures = createFailureLimit(EXCHANGE_FAILURES);
  return [
    handle(operations.generateSession, (call, { body }) => mintSession(options, call, body)),
    handle(operations.dryRunSession, (call, { body }) => dryRun(options, call, body)),

    handle(operations.postTokenBySessionId, async ({ origin }, { body }) => {
      failures.check(origin.ip);
      const given = parseSessionId(body.sessionId);
      const session = given && (await exchange({ id: given.id, secretHash: hashSecret(given.secret) }));
      if (!session) {
        failures.note(origin.ip);
        throw new ApiError('invalid_session');
      }
      return { token: await embedTokens.sign(session) };
    }),

    handle(operations.getEmbedSession, ({ actor, db }) => viewerOf(db, tenantSettings, actor.embed!)),

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

    ...ledgerRoutes(options),
  ];
}
