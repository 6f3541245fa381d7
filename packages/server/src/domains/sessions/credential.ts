/** What a person who signed in sends: the access token of a program, or the cookie of a browser. */
import type { SessionHolder } from '../../platform/auth/actor.ts';
import type { CredentialKind } from '../../platform/auth/credentials.ts';
import { CSRF_HEADER, type Csrf } from '../../platform/auth/csrf.ts';
import { RefusedCallerError } from '../../platform/auth/refused-caller.ts';
import { createStoredCredentials } from '../../platform/auth/stored-credentials.ts';
import { writeUses } from '../../platform/auth/uses.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import { toPermissions } from '../access/index.ts';
import type { ConsoleCookie } from './console-cookie.ts';
import * as store from './credential.store.ts';
import { updateLastUsed } from './store.ts';
import { ACCESS_PREFIX, CONSOLE_PREFIX, looksLikeAccessToken, looksLikeConsoleToken } from './tokens.ts';

export interface SessionCredentials {
  kinds: CredentialKind[];
  stop(): Promise<void>;
}

export function createSessionCredentials(
  platform: Pick<Platform, 'essential' | 'createCache' | 'log'>,
  { cookie, csrf }: { cookie: ConsoleCookie; csrf: Csrf },
): SessionCredentials {
  const { essential: db, log } = platform;
  const uses = writeUses({ write: (due) => updateLastUsed(db.writes, due), log });
  const tokens = createStoredCredentials<SessionHolder>(platform, {
    async find(hash) {
      const row = await store.findCredential(db, hash);
      if (!row) return undefined;
      const { userId, sessionId, expiresAt } = row;
      const actor = { kind: 'person', userId, apiKeyId: null, sessionId, deploymentIds: null } as const;
      return { actor: { ...actor, ...toPermissions(row) }, expiresAt };
    },
    listKnown: (hashes) => store.listKnownHashes(db, hashes),
    subjectsOf: ({ userId, sessionId }) => [`user:${userId}`, `session:${sessionId}`],
    note: ({ sessionId }) => uses.note(sessionId),
    unknown: 'The session is unknown or has ended: sign in again.',
  });

  const accessToken: CredentialKind = {
    name: 'access token',
    auths: ['management', 'query'],
    schemes: ['bearer'],
    inPages: true,
    example: { secret: ACCESS_PREFIX + 'x'.repeat(43) },
    takes: ({ secret }) => looksLikeAccessToken(secret),
    verify: ({ secret, address }) => tokens.verify(secret, address),
    howToSend: `\`Authorization: Bearer ${ACCESS_PREFIX}…\``,
    whyNot: ({ secret }) =>
      secret.startsWith(ACCESS_PREFIX) ? 'This is not an access token: it has another length.' : undefined,
  };

  const cookieKind = {
    schemes: [],
    example: { headers: { cookie: `${cookie.name}=${CONSOLE_PREFIX}${'x'.repeat(43)}` } },
    takes: ({ headers }) => looksLikeConsoleToken(cookie.read(headers) ?? ''),
  } satisfies Partial<CredentialKind>;

  /** The cookie in requests for pages. `platform/http/page-forms.ts` decides whether a form comes from one of them. */
  const pageCookie: CredentialKind = {
    ...cookieKind,
    name: 'cookie of a page',
    auths: ['console'],
    verify: ({ headers, address }) => tokens.verify(cookie.read(headers)!, address),
    howToSend: 'the cookie that signing in by browser sets',
  };

  /** The cookie in requests of our pages' scripts to the API. */
  const apiCookie: CredentialKind = {
    ...cookieKind,
    name: 'cookie',
    auths: ['management', 'query'],
    verify({ method, headers, address }) {
      const actor = tokens.verify(cookie.read(headers)!, address);
      const confirm = (actor: SessionHolder) => {
        try {
          if (method === 'GET' || method === 'HEAD') csrf.refuseOtherSites(headers);
          else {
            csrf.requireOrigin(headers);
            csrf.requireToken(actor.sessionId, headers[CSRF_HEADER]);
          }
        } catch (error) {
          throw error instanceof ApiError ? new RefusedCallerError(actor, error) : error;
        }
        return actor;
      };
      return actor instanceof Promise ? actor.then(confirm) : confirm(actor);
    },
    howToSend: 'the cookie that signing in by browser sets',
  };

  return { kinds: [accessToken, pageCookie, apiCookie], stop: uses.stop };
}
