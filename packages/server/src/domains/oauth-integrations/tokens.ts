/**
 * The tokens of people: encrypted, used, and renewed before they end. A lease lets one server at a time renew, and new
 * tokens are stored only if the old ones have not changed meanwhile: services take a refresh token once, so two
 * renewals at the same time would end the connection.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import type { Logger } from '../../platform/log.ts';
import type { Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import type { Events } from '../webhooks/index.ts';
import type { Integrations } from './integrations.ts';
import { type OpenIntegration, type Provider, ProviderError, type Tokens } from './provider.ts';
import { holdIntegration } from './store.ts';
import * as store from './tokens.store.ts';

const columnOf = (column: string): BoxedColumn => ({
  table: 'oauth_tokens',
  column,
  keyColumn: 'bound_to',
  holds: 'the OAuth tokens of people',
});

/** A token that ends sooner is renewed first. */
const AHEAD_SECONDS = 60;
/** Longer than a request to a service and all attempts to store its answer may take. */
const LEASE_SECONDS = 40;
const RETRY_SECONDS = 10;
const RETRY_CLIENT_SECONDS = 60;
const WAIT_MS = 15_000;
/** Pauses between attempts to store new tokens. */
const STORE_PAUSES_MS: readonly number[] = [100, 1000, 4000];
const LOOK_EVERY_MS = 100;

export interface UsableToken {
  accessToken: string;
  /** Changes with the tokens. */
  version: number;
  /** The connection that the token is of: changes when the person connects again, perhaps with another account. */
  connection: string;
}

export interface UserTokens {
  /** Stores the tokens that the person has got. Throws a 404 if the integration has changed since then. */
  connect(tx: Tx, userId: number, integration: OpenIntegration, tokens: Tokens): Promise<ConnectionChange>;
  /**
   * An access token that is valid now, as far as can be known. `refused` is the version that the data source has refused.
   * Rejects with a `NotConnectedError` or a 502.
   */
  use(userId: number, integrationId: number, refused?: number): Promise<UsableToken>;
  /** What is to be revoked, opened. */
  open(row: store.RevokedTokenRow): { accessToken: string | undefined; refreshToken: string | undefined };
}

interface ConnectionChange {
  before: store.ShownTokenRow | undefined;
  after: store.ShownTokenRow;
}

/** The message for a person whose renewed token is refused, too. */
export const STILL_REFUSED = 'The data source does not accept it, although it was just renewed.';

/** The person has to connect, or to connect again. */
export class NotConnectedError extends Error {}

interface Options {
  platform: Pick<Platform, 'box'>;
  db: Database;
  integrations: Pick<Integrations, 'open'>;
  provider: Pick<Provider, 'refresh' | 'revoke'>;
  log: Logger;
  /** Told of connections that their person or an admin has to mend. */
  events: Pick<Events, 'record'>;
}

export function createUserTokens({ platform, db, integrations, provider, log, events }: Options): UserTokens {
  const accessBox = platform.box(columnOf('access_token'));
  const refreshBox = platform.box(columnOf('refresh_token'));
  /** Calls in progress, by what they ask for: equal calls share one result (single-flight). */
  const renewing = new Map<string, Promise<UsableToken>>();

  const boundTo = ({ integrationId, userId, id }: Owner) => `${integrationId}:${userId}:${id}`;
  const seal = (owner: Owner, { accessToken, refreshToken, ...times }: Tokens): store.SealedTokens => ({
    accessToken: accessBox.seal(boundTo(owner), Buffer.from(accessToken)),
    refreshToken: refreshToken === null ? null : refreshBox.seal(boundTo(owner), Buffer.from(refreshToken)),
    accessExpiresAt: times.accessExpiresAt?.toISOString() ?? null,
    refreshExpiresAt: times.refreshExpiresAt?.toISOString() ?? null,
  });
  const usable = (row: store.UsedTokenRow): UsableToken => ({
    accessToken: accessBox.open(boundTo(row), row.accessToken!).toString('utf8'),
    version: row.version,
    connection: connectionOf(row),
  });

  /** Returns nothing if the tokens are others by now, such as when the person has connected again meanwhile. */
  async function renewOnce(row: store.UsedTokenRow, isRefused: boolean): Promise<UsableToken | undefined> {
    const integration = await integrations.open(db, row.integrationId);
    const before = refreshBox.open(boundTo(row), row.refreshToken!).toString('utf8');
    const tokens = await provider.refresh(integration, before).catch((error) => giveUp(row, error));
    if (!tokens) return undefined;
    // A source that refuses every token does not make this server ask the service again and again.
    const pauseSeconds = isRefused ? RETRY_SECONDS : null;
    const sealed = seal(row, tokens);
    if (await insist(() => store.storeRenewed(db, row, sealed, pauseSeconds))) {
      return { accessToken: tokens.accessToken, version: row.version + 1, connection: connectionOf(row) };
    }
    if (await store.findUsedToken(db, row.userId, row.integrationId)) return undefined;
    // The connection was ended meanwhile, so nobody else has these tokens.
    const [token, hint] = tokens.refreshToken
      ? ([tokens.refreshToken, 'refresh_token'] as const)
      : ([tokens.accessToken, 'access_token'] as const);
    await provider.revoke(integration, token, hint).catch(() => {});
    throw new NotConnectedError('You have ended the connection.');
  }

  const tell = (tx: Tx, { id, integrationId, userId }: store.UsedTokenRow) =>
    events.record(tx, [
      { type: 'oauth_token.failed', resource: `oauth_token:${id}`, data: { id, integrationId, userId } },
    ]);
  /** Returns false if the tokens are others by now. */
  const end = (row: store.UsedTokenRow, lastError: string) =>
    db.transaction(async (tx) => {
      const isEnded = (await store.storeEnded(tx, row, lastError)) > 0;
      if (isEnded) await tell(tx, row);
      return isEnded;
    });

  /**
   * Records that a renewal failed, and throws. Returns only if the tokens have been replaced meanwhile, so that the
   * failure does not matter.
   */
  async function giveUp(row: store.UsedTokenRow, error: unknown): Promise<undefined> {
    if (!(error instanceof ProviderError)) throw error;
    const { kind, message: reason } = error;
    const { integrationId, userId } = row;
    log.warn({ integrationId, userId, kind, reason }, 'the OAuth tokens of a person could not be renewed');
    if (kind === 'ended') {
      const lastError = 'The service does not renew the access any more. Connect again.';
      if (!(await end(row, lastError))) return undefined;
      throw new NotConnectedError(lastError);
    }
    const isClient = kind === 'client';
    const failed = {
      status: isClient ? 'error' : row.status,
      lastError: isClient
        ? 'The service refuses the client id or the secret of the integration. An admin must mend it.'
        : 'The service could not renew the access. It is tried again.',
      seconds: isClient ? RETRY_CLIENT_SECONDS : RETRY_SECONDS,
    } as const;
    await db.transaction(async (tx) => {
      const isNoted = (await store.storeFailed(tx, row, failed)) > 0;
      if (isNoted && isClient && row.status !== 'error') await tell(tx, row);
    });
    throw unavailable(isClient);
  }

  async function find(userId: number, integrationId: number, refused: number | undefined) {
    for (const until = Date.now() + WAIT_MS; Date.now() < until; await sleep(LOOK_EVERY_MS)) {
      const row = await store.findUsedToken(db, userId, integrationId);
      if (!row) throw new NotConnectedError('You are not connected.');
      if (row.status === 'expired' || row.status === 'revoked') {
        throw new NotConnectedError(row.lastError ?? 'The access has ended. Connect again.');
      }
      const { secondsLeft, refreshToken } = row;
      const isGood = row.version !== refused && (secondsLeft === null || secondsLeft > 0);
      if (isGood && !endsSoon(row)) return usable(row);
      if (refreshToken === null) {
        if (isGood) return usable(row);
        const lastError =
          row.version === refused
            ? 'The data source refuses your access, and the service gave no way to renew it. Connect again.'
            : 'The access has ended. Connect again.';
        await end(row, lastError);
        throw new NotConnectedError(lastError);
      }
      // Backoff after a failed renewal, and before another renewal because the source refused the token. A token that merely
      // ends soon is renewed at once.
      if (row.isRetriedLater && (row.version === refused || row.lastError !== null)) {
        if (isGood) return usable(row);
        if (row.version === refused && row.lastError === null) throw new NotConnectedError(STILL_REFUSED);
        throw unavailable(row.status === 'error');
      }
      if (await store.leaseToken(db, row, LEASE_SECONDS)) {
        const renewed = await renewOnce(row, row.version === refused).catch((error) => {
          if (isGood && error instanceof ApiError) return usable(row);
          throw error;
        });
        if (renewed) return renewed;
        continue;
      }
      // Another server, or another call, renews the token. If it is still good, it can be used until then.
      if (isGood) return usable(row);
    }
    throw unavailable(false);
  }

  return {
    async connect(tx, userId, integration, tokens) {
      const current = await holdIntegration(tx, integration.id);
      if (current?.revision !== integration.revision) throw new ApiError('oauth_integration_not_found');
      found(await store.lockPerson(tx, userId), 'oauth_flow_not_begun');
      const before = await store.lockToken(tx, userId, integration.id);
      const owner = {
        integrationId: integration.id,
        userId,
        id: before?.id ?? (await store.nextTokenId(tx)),
      };
      const row = { ...owner, ...seal(owner, tokens) };
      return { before, after: await (before ? store.replaceToken : store.insertToken)(tx, row) };
    },

    use(userId, integrationId, refused) {
      const key = `${userId} ${integrationId} ${refused}`;
      const known = renewing.get(key);
      if (known) return known;
      const found = find(userId, integrationId, refused).finally(() => renewing.delete(key));
      renewing.set(key, found);
      return found;
    },

    open: (row) => ({
      accessToken: row.accessToken
        ? accessBox.open(boundTo(row), row.accessToken).toString('utf8')
        : undefined,
      refreshToken: row.refreshToken
        ? refreshBox.open(boundTo(row), row.refreshToken).toString('utf8')
        : undefined,
    }),
  };
}

/**
 * Retries to store: the service no longer takes the former refresh token, so a database that is away for a moment must
 * not lose the new one.
 */
async function insist<T>(work: () => Promise<T>, pausesMs = STORE_PAUSES_MS): Promise<T> {
  for (const pauseMs of pausesMs) {
    try {
      return await work();
    } catch {
      await sleep(pauseMs);
    }
  }
  return work();
}

type Owner = Pick<store.NewToken, 'integrationId' | 'userId' | 'id'>;

const connectionOf = ({ id, connectedAt }: store.UsedTokenRow) => `${id} ${connectedAt}`;

/** Short tokens are used for most of their life. */
const endsSoon = ({ secondsLeft, lifeSeconds }: store.UsedTokenRow) =>
  secondsLeft !== null && secondsLeft < Math.min(AHEAD_SECONDS, (lifeSeconds ?? AHEAD_SECONDS) / 5);

const unavailable = (isClient: boolean) =>
  new ApiError('oauth_provider_unavailable', {
    ...(isClient && {
      message: 'The service refuses the client id or the secret of the integration. An admin must mend it.',
    }),
  });
