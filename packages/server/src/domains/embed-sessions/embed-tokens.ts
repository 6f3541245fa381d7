/**
 * Embed tokens. They are signed, so verifying a known token needs no query. A token still ends within a second after
 * its session ends.
 */
import { sign } from 'node:crypto';
import type { Action } from '@oriel/contract';
import { decodeProtectedHeader, errors as joseErrors, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import type { EmbeddedCaller, EmbedSession, Permissions } from '../../platform/auth/actor.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import { findPermissions, toPermissions } from '../access/index.ts';
import { SIGNING_ALGORITHM, type SigningKeys } from '../signing-keys/index.ts';
import type { Revocable, Revocations } from './revocations.ts';
import { isLiveSession } from './tokens.store.ts';

const ISSUER = 'oriel';
const AUDIENCE = 'oriel-embed';
const TOKEN_LIFE_SECONDS = 24 * 3600;
const CACHED_MAX = 10_000;

const invalidToken = () =>
  new ApiError('unauthenticated', {
    message: 'The token is not valid. It has expired, was revoked or changed, or is not a token.',
  });

/** An exchanged session, as its token describes it. */
export interface EmbedToken extends Revocable {
  /** True for a user of the account, who keeps their own rights. False for an external viewer. */
  isInternal: boolean;
}

export interface EmbedTokens {
  /** Returns a function that signs with the newest key. Asynchronous, because the key may have to be read first. */
  signer(): Promise<(token: EmbedToken) => string>;
  /** Returns at once, without a promise, if the token is known. Throws or rejects with a 401. */
  authenticate(token: string): EmbeddedCaller | Promise<EmbeddedCaller>;
  /** Why the token of an authenticated caller has ended, as far as this server knows without asking the database. */
  whyEnded(session: EmbedSession): 'revoked' | 'expired' | undefined;
}

export function createEmbedTokens(
  { essential: db, createCache }: Pick<Platform, 'essential' | 'createCache'>,
  { signingKeys: keys, revocations }: { signingKeys: SigningKeys; revocations: Revocations },
): EmbedTokens {
  const permissionsCache = createCache<number, Permissions>((userId) => [`user:${userId}`]);
  const verified = new LRUCache<string, { token: EmbedToken; actor: EmbeddedCaller }>({
    maxSize: CACHED_MAX,
    sizeCalculation: () => 1,
  });
  const tokenOf = new WeakMap<EmbedSession, EmbedToken>();

  async function verify(text: string) {
    const known = verified.get(text) ?? (await readToken(text, keys));
    const { token } = known;
    const isLive = revocations.isCurrent
      ? !revocations.covers(token)
      : await isLiveSession(db, token.sessionId);
    if (!isLive || hasExpired(token)) throw invalidToken();
    verified.set(text, known);
    tokenOf.set(known.actor.embed, token);
    return known;
  }

  /** The rights of an internal user are read again whenever they may have changed. */
  async function withOwnRights({
    token,
    actor,
  }: {
    token: EmbedToken;
    actor: EmbeddedCaller;
  }): Promise<EmbeddedCaller> {
    const read = async () => {
      const row = await findPermissions(db, token.userId);
      if (!row) throw invalidToken();
      return toPermissions(row);
    };
    return {
      ...actor,
      ...(permissionsCache.get(token.userId) ?? (await permissionsCache.load(token.userId, read))),
    };
  }

  return {
    async signer() {
      const key = await keys.current();
      return ({ userId, exchangedAt, ...token }) => {
        const claims = {
          ...token,
          iss: ISSUER,
          aud: AUDIENCE,
          sub: String(userId),
          iat: exchangedAt,
          exp: Math.floor(exchangedAt) + TOKEN_LIFE_SECONDS,
        };
        const text = `${base64url({ alg: SIGNING_ALGORITHM, kid: key.id, typ: 'JWT' })}.${base64url(claims)}`;
        // Signs in this thread, because moving the work to another thread, as jose does, takes longer than signing.
        return `${text}.${sign(null, Buffer.from(text), key.privateKey).toString('base64url')}`;
      };
    },
    authenticate(text) {
      const known = verified.get(text);
      if (known && revocations.isCurrent && !known.token.isInternal) {
        if (revocations.covers(known.token) || hasExpired(known.token)) throw invalidToken();
        return known.actor;
      }
      return verify(text).then((found) => (found.token.isInternal ? withOwnRights(found) : found.actor));
    },
    whyEnded(session) {
      const token = tokenOf.get(session)!;
      if (revocations.covers(token)) return 'revoked';
      return hasExpired(token) ? 'expired' : undefined;
    },
  };
}

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

const hasExpired = ({ exchangedAt }: EmbedToken) =>
  Date.now() / 1000 >= Math.floor(exchangedAt) + TOKEN_LIFE_SECONDS;

async function readToken(text: string, keys: SigningKeys) {
  try {
    const { kid } = decodeProtectedHeader(text);
    const key = kid === undefined ? undefined : await keys.find(kid);
    if (!key) throw invalidToken();
    const { payload } = await jwtVerify(text, key.publicKey, {
      algorithms: [SIGNING_ALGORITHM],
      issuer: ISSUER,
      audience: AUDIENCE,
      requiredClaims: ['sub', 'iat', 'exp'],
    });
    const { sub, iat, sessionId, embedTenant, apiKeyId, deploymentId, creatorMode, isInternal } =
      payload as typeof payload & EmbedToken;
    const token: EmbedToken = {
      userId: Number(sub),
      exchangedAt: iat!,
      sessionId,
      embedTenant,
      apiKeyId,
      deploymentId,
      creatorMode,
      isInternal,
    };
    return { token, actor: toActor(token) };
  } catch (error) {
    if (error instanceof joseErrors.JOSEError || error instanceof TypeError) throw invalidToken();
    throw error;
  }
}

const VIEWER_ACTIONS: Action[] = ['DeploymentRead', 'AIBIView'];
/** Creators may manage the content of their embed tenant; see domains/access for what belongs to it. */
const CREATOR_ACTIONS: Action[] = [
  ...VIEWER_ACTIONS,
  'AIBIExplore',
  'FolderManage',
  'WorkbookManage',
  'ReportManage',
];

/** The session id of a reader without a session. */
const NO_SESSION = 0;

/** An external user who reads something that is drawn for them, without a session of theirs. */
export function toReader(
  reader: Pick<EmbedToken, 'userId' | 'deploymentId' | 'embedTenant' | 'creatorMode'>,
  securityContext: object | null,
): EmbeddedCaller {
  const actor = toActor({ ...reader, sessionId: NO_SESSION, isInternal: false });
  return { ...actor, embed: { ...actor.embed, securityContext } };
}

type TokenClaims = Pick<
  EmbedToken,
  'userId' | 'deploymentId' | 'embedTenant' | 'creatorMode' | 'sessionId' | 'isInternal'
>;

const toActor = (token: TokenClaims): EmbeddedCaller => ({
  kind: token.isInternal ? 'embeddedPerson' : 'externalViewer',
  userId: token.userId,
  deploymentIds: [token.deploymentId],
  actions: new Set(),
  deploymentActions: new Map([
    [token.deploymentId, new Set(token.creatorMode ? CREATOR_ACTIONS : VIEWER_ACTIONS)],
  ]),
  embed: {
    sessionId: token.sessionId,
    embedTenant: token.embedTenant,
    creatorMode: token.creatorMode,
  },
});
