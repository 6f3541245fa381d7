/**
 * Data sources that people query with their own access. A person without a valid token is told where to connect, and
 * never gets the source's own user instead, which may see more than they do.
 */
import { isIPv6 } from 'node:net';
import { type PersonalAccess, type ServerSource, userOf } from '../../engines/data-sources.ts';
import { type Credential, EngineError } from '../../engines/engine.ts';
import { may, withoutAction } from '../../platform/auth/access.ts';
import type { IdentifiedActor } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { ACCOUNT_PATH } from '../pages/index.ts';
import { findPerson } from '../users/index.ts';
import type { Integrations } from './integrations.ts';
import { NotConnectedError, STILL_REFUSED, type UsableToken, type UserTokens } from './tokens.ts';

/** A source of this kind, as far as the access matters. */
export type PersonalSource = Pick<ServerSource, 'name' | 'host' | 'port' | 'tls'> & { oauth: PersonalAccess };

export interface SourceAccess {
  /**
   * The access with which the caller asks the source. Undefined for the source's own user. Throws if the caller cannot
   * ask it.
   */
  of(db: Queryable, actor: IdentifiedActor, source: PersonalSource): Promise<OwnAccess | undefined>;
}

export interface OwnAccess {
  /** Part of the keys of results: two callers with the same one see the same rows. */
  key: string;
  /**
   * Runs the work with the token of the person. If the source refuses the token, it is renewed once, and the work runs
   * once more.
   */
  run<T>(work: (credential: Credential) => Promise<T>): Promise<T>;
}

interface Options {
  integrations: Pick<Integrations, 'require'>;
  tokens: Pick<UserTokens, 'use'>;
  publicUrl: string;
  allowPrivate: boolean;
}

export function createSourceAccess({ integrations, tokens, publicUrl, allowPrivate }: Options): SourceAccess {
  const connectFirst = (name: string, why: string) =>
    new ApiError('oauth_connection_required', {
      message: `This data is read with your own access to “${name}”. ${why} Connect at ${publicUrl}${ACCOUNT_PATH}.`,
    });

  /** Throws unless the integration lets its tokens go to this source. */
  async function requireIntegration(db: Queryable, { name, host, port, tls, oauth }: PersonalSource) {
    const notConfigured = (why: string) =>
      new ApiError('source_not_configured', {
        message: `The data source \`${name}\` cannot be used: ${why}.`,
      });
    const { integrationId } = oauth;
    const integration = await integrations.require(db, integrationId).catch(() => {
      throw notConfigured(`there is no OAuth integration ${integrationId}`);
    });
    const address = `${isIPv6(host) ? `[${host}]` : host}:${port}`.toLowerCase();
    if (!integration.config.hosts?.some((known) => known.toLowerCase() === address)) {
      throw notConfigured(
        `the OAuth integration ${integrationId} does not name ${address} in \`config.hosts\`, so it gets no tokens`,
      );
    }
    if (tls !== 'verify' && !allowPrivate) {
      throw notConfigured('tokens of people are sent with TLS and a checked certificate only');
    }
    return integration;
  }

  return {
    async of(db, actor, source) {
      const { oauth } = source;
      if (actor.kind !== 'person' || actor.isReadForOthers) {
        if (oauth.isOpenToOthers) return undefined;
        throw new ApiError('oauth_person_required');
      }
      if (!may(actor, 'OAuthIntegrationsIssueTokens')) throw withoutAction('OAuthIntegrationsIssueTokens');
      const integration = await requireIntegration(db, source);
      const { userId } = actor;
      const user = userOf(oauth, await findPerson(db, userId));
      const use = (refused?: number) =>
        tokens.use(userId, oauth.integrationId, refused).catch((error) => {
          throw error instanceof NotConnectedError ? connectFirst(integration.name, error.message) : error;
        });
      const first = await use();
      const asked = ({ accessToken }: UsableToken): Credential => ({ user, password: accessToken });
      return {
        key: `user ${userId} connection ${first.connection}`,
        async run(work) {
          try {
            return await work(asked(first));
          } catch (error) {
            if (!isRefused(error)) throw error;
          }
          const renewed = await use(first.version);
          // Another connection may see other rows.
          if (renewed.connection !== first.connection)
            throw connectFirst(integration.name, 'It has changed.');
          return work(asked(renewed)).catch((error) => {
            throw isRefused(error) ? connectFirst(integration.name, STILL_REFUSED) : error;
          });
        },
      };
    },
  };
}

const isRefused = (error: unknown) => error instanceof EngineError && error.code === 'credential_refused';
