/** Integrations, with their secrets sealed. */
import type { Change } from '../../platform/audit/change.ts';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import { deleteFlowsOf } from './flows.store.ts';
import type { OpenIntegration } from './provider.ts';
import {
  checkAddresses,
  INTEGRATIONS_MAX,
  isSameService,
  isSentToSame,
  mayShareAddress,
  redirectNameOf,
  redirectUriOf,
} from './rules.ts';
import * as store from './store.ts';
import { forgetTokensOf } from './tokens.store.ts';

const SECRET_COLUMN: BoxedColumn = {
  table: 'oauth_integrations',
  column: 'client_secret',
  keyColumn: 'id',
  holds: 'the secrets of OAuth integrations',
};

export interface IntegrationInput {
  name: string;
  type: string;
  authUrl: string;
  tokenUrl: string;
  redirectUri: string;
  clientId: string;
  clientSecret?: string | null;
  scopes?: string[];
  config?: store.IntegrationConfig;
}

export interface ShownIntegration extends Omit<store.IntegrationRow, 'revision' | 'redirectName'> {
  redirectUri: string;
}

export interface Integrations {
  list(db: Queryable): Promise<ShownIntegration[]>;
  require(db: Queryable, id: number): Promise<ShownIntegration>;
  /** Returns the integration with its secret, for requests to the service. */
  open(db: Queryable, id: number): Promise<OpenIntegration>;
  /** Like `open`, but also for a deleted integration, whose tokens are still to be revoked. */
  openAny(db: Queryable, id: number): Promise<OpenIntegration | undefined>;
  /** Throws a 400 for what can be refused without the database. */
  check(given: IntegrationInput): void;
  create(tx: Tx, given: IntegrationInput & { clientSecret: string }): Promise<Outcome>;
  update(tx: Tx, id: number, given: IntegrationInput): Promise<Outcome>;
  /** A job revokes its tokens, and removes the row. */
  hide(tx: Tx, id: number): Promise<Change>;
}

interface Outcome {
  reply: ShownIntegration;
  changes: Change;
}

const refuseTaken = refusing({ oauth_integrations_name_key: 'oauth_integration_name_taken' });
/**
 * The value of a client secret that was lost with the secret key. The service refuses requests without one, so people
 * see that an admin must mend it.
 */
export const SECRET_LOST = '';
const CHANGED = 'The integration was changed. Connect again.';

export function createIntegrations(
  { box: boxOf, publicUrl }: Pick<Platform, 'box' | 'publicUrl'>,
  { allowPrivate }: { allowPrivate: boolean },
): Integrations {
  const box = boxOf(SECRET_COLUMN);
  const shown = ({ revision: _revision, redirectName, ...row }: store.IntegrationRow): ShownIntegration => ({
    ...row,
    redirectUri: redirectUriOf(publicUrl, redirectName),
  });
  async function requireOwnAddress(
    tx: Tx,
    integration: Pick<store.IntegrationRow, 'id' | 'redirectName' | 'authUrl'>,
  ) {
    const others = await store.listSharing(tx, integration.redirectName, integration.id);
    if (!others.every((other) => mayShareAddress(other, integration)))
      throw new ApiError('oauth_redirect_uri_taken');
  }
  const withoutSecret = ({ clientSecret: _secret, ...row }: store.SealedIntegrationRow) => row;
  const opened = (row: store.SealedIntegrationRow): OpenIntegration => ({
    ...row,
    clientSecret: row.clientSecret.length
      ? box.open(String(row.id), row.clientSecret).toString('utf8')
      : SECRET_LOST,
  });
  const sealed = (id: number, secret: string) => box.seal(String(id), Buffer.from(secret));

  return {
    list: async (db) => (await store.listIntegrations(db)).map(shown),
    require: async (db, id) =>
      shown(found(await store.findIntegration(db, id), 'oauth_integration_not_found')),
    open: async (db, id) =>
      opened(found(await store.findSealedIntegration(db, id), 'oauth_integration_not_found')),
    async openAny(db, id) {
      const row = await store.findAnyIntegration(db, id);
      return row && opened(row);
    },
    check: (given) => checkAddresses(given, { publicUrl, allowPrivate }),

    async create(tx, { clientSecret, redirectUri, scopes = [], config = {}, ...given }) {
      await store.lockCreation(tx);
      if ((await store.countIntegrations(tx)) >= INTEGRATIONS_MAX) {
        throw new ApiError('oauth_integration_limit_reached');
      }
      const id = await store.nextIntegrationId(tx);
      const redirectName = redirectNameOf(redirectUri, publicUrl);
      const row = { ...given, id, redirectName, scopes, config, clientSecret: sealed(id, clientSecret) };
      await requireOwnAddress(tx, row);
      const after = await store.insertIntegration(tx, row).catch(refuseTaken);
      return { reply: shown(after), changes: created(shown(after)) };
    },

    async update(tx, id, { clientSecret, ...body }) {
      await store.lockCreation(tx);
      const before = found(await store.lockIntegration(tx, id), 'oauth_integration_not_found');
      checkAddresses(body, { publicUrl, allowPrivate });
      const { redirectUri, ...given } = body;
      const wanted = { ...before, ...given, redirectName: redirectNameOf(redirectUri, publicUrl) };
      await requireOwnAddress(tx, wanted);
      if (clientSecret == null && !isSentToSame(before, wanted)) {
        throw invalid('clientSecret', new ApiError('oauth_secret_required').message, 'oauth_secret_required');
      }
      const secret = clientSecret == null ? before.clientSecret : sealed(id, clientSecret);
      const after = await store.updateIntegration(tx, { ...wanted, clientSecret: secret }).catch(refuseTaken);
      // What was begun before was meant for the integration as it was.
      await deleteFlowsOf(tx, id);
      if (!isSameService(before, after)) await forgetTokensOf(tx, id, CHANGED);
      const isNewSecret = clientSecret != null && opened(before).clientSecret !== clientSecret;
      return {
        reply: shown(after),
        changes: changed(
          { ...shown(withoutSecret(before)), hasNewClientKey: false },
          { ...shown(after), hasNewClientKey: isNewSecret },
        ),
      };
    },

    async hide(tx, id) {
      const before = found(await store.lockIntegration(tx, id), 'oauth_integration_not_found');
      await store.hideIntegration(tx, id);
      await deleteFlowsOf(tx, id);
      return deleted(shown(withoutSecret(before)));
    },
  };
}
