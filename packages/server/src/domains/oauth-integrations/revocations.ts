/** Tells services that tokens are not used any more (RFC 7009), and then forgets the tokens. */
import type { Database } from '../../platform/db/database.ts';
import type { JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import type { Logger } from '../../platform/log.ts';
import type { Integrations } from './integrations.ts';
import { type OpenIntegration, type Provider, ProviderError } from './provider.ts';
import { deleteHiddenIntegrations } from './store.ts';
import * as store from './tokens.store.ts';
import type { UserTokens } from './tokens.ts';

const BATCH = 50;
/** How long one run takes, more or less, and how long the requests to one service. Then other jobs have their turn. */
const BOUNDS = { runMs: 60_000, shareMs: 15_000 };

export interface Revocations {
  job: JobKind;
  /** Finds what no job was enqueued for, and what services could not be told before. */
  schedule: Schedule;
}

interface Options {
  integrations: Pick<Integrations, 'openAny'>;
  provider: Pick<Provider, 'revoke'>;
  tokens: Pick<UserTokens, 'open'>;
}

export function createRevocations(
  { integrations, provider, tokens }: Options,
  { runMs, shareMs } = BOUNDS,
): Revocations {
  /** The refresh token first: most services end its access tokens with it. */
  async function revoke(integration: OpenIntegration, row: store.RevokedTokenRow) {
    const { accessToken, refreshToken } = tokens.open(row);
    if (refreshToken) await provider.revoke(integration, refreshToken, 'refresh_token');
    if (accessToken) await provider.revoke(integration, accessToken, 'access_token');
  }

  /** Returns whether tokens are left that may be revoked at once. */
  async function runAll(db: Database, log: Logger, signal: AbortSignal): Promise<boolean> {
    const opened = new Map<number, OpenIntegration | undefined>();
    /** Integrations whose service does not answer. It is not asked again for each token. */
    const silent = new Set<number>();
    const spent = new Map<number, number>();
    const until = performance.now() + runMs;
    let [ended, isLeft] = [0, false];
    for (let afterId = 0; ; ) {
      const rows = await store.listRevokedTokens(db, afterId, BATCH);
      for (const row of rows) {
        signal.throwIfAborted();
        afterId = row.id;
        const { integrationId } = row;
        if (silent.has(integrationId)) continue;
        const used = spent.get(integrationId) ?? 0;
        const began = performance.now();
        if (used >= shareMs || began >= until) {
          isLeft = true;
          continue;
        }
        if (!opened.has(integrationId))
          opened.set(integrationId, await integrations.openAny(db, integrationId));
        try {
          const integration = opened.get(integrationId);
          if (integration) await revoke(integration, row);
        } catch (error) {
          if (!(error instanceof ProviderError)) throw error;
          log.warn({ integrationId, reason: error.message }, 'a token could not be revoked at its service');
          // Any other answer is the last word: the service has read the request.
          if (error.kind === 'unavailable' || error.kind === 'client') {
            silent.add(integrationId);
            continue;
          }
        } finally {
          spent.set(integrationId, used + performance.now() - began);
        }
        await store.deleteToken(db, row.id);
        ended++;
      }
      if (rows.length < BATCH || performance.now() >= until) {
        isLeft ||= rows.length === BATCH;
        break;
      }
    }
    while ((await deleteHiddenIntegrations(db, BATCH)) === BATCH) signal.throwIfAborted();
    // Without progress, the schedule tries again.
    return isLeft && ended > 0;
  }

  const job: JobKind = {
    name: 'oauth.revoke-tokens',
    // Services of others may be slow, and nobody else shall wait for them.
    lane: 'remotes',
    run: async (_payload, { db, log, signal }) => ((await runAll(db, log, signal)) ? 'unfinished' : 'done'),
  };
  return { job, schedule: { name: 'oauth.revoke-tokens', everySeconds: 300, kind: job } };
}
