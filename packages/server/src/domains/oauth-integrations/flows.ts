/**
 * How a person connects: they go to the service with a `state` of ours, and come back with a code. The state works once,
 * for ten minutes, for the person who began and, if a browser began, in its session only. A program has no session of a
 * browser, so then any browser will do in which the same person is signed in here. Nobody else's code can so become
 * the person's, and nobody else gets what the person has allowed.
 */
import { createHmac } from 'node:crypto';
import { type Change, changeFunction } from '../../platform/audit/change.ts';
import type { Person, SessionHolder } from '../../platform/auth/actor.ts';
import type { Database } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import type { CallOrigin } from '../../platform/http/call.ts';
import type { Logger } from '../../platform/log.ts';
import type { Keys } from '../../platform/secrets/keyring.ts';
import { hashSecret, randomSecret } from '../../platform/secrets/random-secrets.ts';
import * as store from './flows.store.ts';
import type { Integrations } from './integrations.ts';
import { type CallbackQuery, type Provider, ProviderError } from './provider.ts';
import { refusalOf } from './rules.ts';
import type { UserTokens } from './tokens.ts';

const FLOW_SECONDS = 600;
/** A person who begins more often loses what they began before. */
const FLOWS_MAX = 10;

export interface Flows {
  begin(db: Database, person: Person, integrationId: number): Promise<{ authorizationUrl: string }>;
  /** `returned` is the query of the callback, and the end of its address. Whatever fails, nothing is stored. */
  finish(db: Database, person: SessionHolder, returned: ReturnedCallback, origin: CallOrigin): Promise<void>;
}

export interface ReturnedCallback extends CallbackQuery {
  redirectName: string;
}

interface Options {
  integrations: Integrations;
  provider: Provider;
  tokens: UserTokens;
  keys: Keys;
  log: Logger;
}

export function createFlows({ integrations, provider, tokens, keys, log }: Options): Flows {
  /** Only this server can compute it, so it is stored nowhere. */
  const verifierOf = (state: string) => createHmac('sha256', keys[0]).update(state).digest('base64url');

  const explain = (origin: CallOrigin, integrationId: number) => (error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
    const { kind, message: reason } = error;
    const { requestId, operation } = origin;
    log.warn({ requestId, operation, integrationId, kind, reason }, 'a person could not be connected');
    if (kind === 'client') {
      throw new ApiError('oauth_provider_unavailable', {
        message: 'The service refuses the client id or the secret of the integration. An admin must mend it.',
      });
    }
    throw new ApiError(kind === 'unavailable' ? 'oauth_provider_unavailable' : 'oauth_provider_refused');
  };

  return {
    async begin(db, { userId, sessionId }, integrationId) {
      const integration = await integrations.open(db, integrationId);
      const state = randomSecret();
      const checks = { state, verifier: verifierOf(state) };
      const authorizationUrl = await provider.authorizationUrl(integration, checks);
      await db.transaction(async (tx) => {
        const stateHash = hashSecret(state);
        await store.insertFlow(tx, { stateHash, userId, integrationId, sessionId, seconds: FLOW_SECONDS });
        await store.deleteOlderFlows(tx, userId, FLOWS_MAX);
      });
      return { authorizationUrl };
    },

    async finish(db, person, returned, origin) {
      const { userId, sessionId } = person;
      const state = returned.state ?? '';
      const begun = await store.takeFlow(db.writes, { stateHash: hashSecret(state), userId, sessionId });
      const { integrationId } = found(begun, 'oauth_flow_not_begun');
      const integration = await integrations.open(db, integrationId);
      // Another service sent the person back than the one that they were sent to: its code must not go to that one.
      if (integration.redirectName !== returned.redirectName) throw new ApiError('oauth_flow_not_begun');
      if (returned.error !== undefined) throw refusalOf(returned.error);
      const got = await provider
        .exchange(integration, returned, { state, verifier: verifierOf(state) })
        .catch(explain(origin, integrationId));
      const change = changeFunction(db, {
        operation: origin.operation,
        resourceType: 'oauthToken',
        actor: person,
        deploymentId: null,
        embedTenantName: null,
        ip: origin.ip,
        requestId: origin.requestId,
      });
      try {
        await change(async (tx) => {
          const { before, after } = await tokens.connect(tx, userId, integration, got);
          return {
            reply: undefined,
            changes: { id: after.id, before: before ?? null, after } satisfies Change,
          };
        });
      } catch (error) {
        // The tokens are stored nowhere, so no later revocation would find them.
        const given = got.refreshToken ?? got.accessToken;
        await provider
          .revoke(integration, given, got.refreshToken ? 'refresh_token' : 'access_token')
          .catch(() => {});
        throw error;
      }
    },
  };
}
