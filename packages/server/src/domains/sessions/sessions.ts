/** Begins, renews and ends the sessions of people. */
import { timingSafeEqual } from 'node:crypto';
import { type Change, deleted } from '../../platform/audit/change.ts';
import { recordEvent } from '../../platform/audit/events.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { siteOf } from '../../platform/http/attempt-limit.ts';
import { createFailureLimit } from '../../platform/http/failure-limit.ts';
import { lockUser, noteSignIn } from '../users/index.ts';
import type { ProvenPassword, SignInOrigin } from './sign-in.ts';
import * as store from './store.ts';
import { newAccessToken, newConsoleToken, type RefreshTokens } from './tokens.ts';

const HOUR = 3600;
const DAY = 24 * HOUR;
const ACCESS_SECONDS = HOUR;
/** A session with tokens ends if it is not refreshed for a month, and after three months in any case. */
const TOKENS_LIVE = { idleSeconds: 30 * DAY, maxSeconds: 90 * DAY };
export const CONSOLE_SECONDS = 7 * DAY;
/** A refresh leaves the earlier access tokens valid, because requests with them may be on their way. */
const ACCESS_TOKENS_MAX = 5;
/** A user has at most this many. */
export const SESSIONS_MAX = 100;
/** A session knows this many of those that it replaces: only requests that are on their way may still name them. */
const REPLACED_MAX = 10;
/** Limits callers that send the token of an ended session again and again. Made-up tokens are refused before this. */
const REFRESH_FAILURES = { perSubject: 20, perAddress: 300, perMs: 60_000 };

export interface IssuedTokens {
  sessionId: number;
  accessToken: string;
  refreshToken: string;
  expiresAt: string;
}

/** The user who signs in. Without `passwordHash` they were identified in another way, such as by a provider. */
export type SignInIdentity = Pick<ProvenPassword, 'userId'> & Partial<ProvenPassword>;

/** The session that the browser had before. */
export interface EarlierSession {
  /** The session of this token ends. */
  tokenHash?: Buffer;
  /** The new session is renewed from these, the last one first: it ends if one of them is to end. */
  replaces?: number[];
}

/** A person who is signed in by browser. */
export interface Approver {
  userId: number;
  sessionId: number;
}

export type ApprovedDevice = Pick<store.NewSession, 'clientId' | 'userAgent' | 'ip' | 'seconds'>;

export interface Sessions {
  /** Returns undefined if the user was deactivated or deleted, or has another password by now. */
  beginWithTokens(tx: Tx, who: SignInIdentity, origin: SignInOrigin): Promise<IssuedTokens | undefined>;
  /** Returns undefined in the same cases. */
  beginConsole(
    tx: Tx,
    who: SignInIdentity,
    origin: SignInOrigin,
    earlier?: EarlierSession,
  ): Promise<{ sessionId: number; token: string } | undefined>;
  /**
   * Throws a 401 unless the session is open. It stays open until the transaction ends it. Returns what the session that
   * is renewed from it replaces, if it is of a browser.
   */
  requireOpen(tx: Tx, session: Approver): Promise<{ isOfBrowser: boolean; replaces: number[] }>;
  /**
   * Begins the session of a device that a person approved. It has no tokens yet. Returns its id, or undefined if the
   * session of the person has ended.
   */
  beginDevice(tx: Tx, approver: Approver, device: ApprovedDevice): Promise<number | undefined>;
  /** Issues the first tokens of a session of `beginDevice`. */
  issueToDevice(tx: Tx, sessionId: number, origin: SignInOrigin): Promise<IssuedTokens>;
  /** The tokens of a device are renewed only for the client that they were issued to. */
  refresh(
    refreshToken: string,
    clientId: string | null | undefined,
    origin: SignInOrigin,
  ): Promise<IssuedTokens>;
}

/** Ends the session of the caller, or all sessions of the user. Returns the changes for the audit log. */
export async function signOut(
  tx: Tx,
  { userId, sessionId }: { userId: number; sessionId: number | null },
  { everywhere = false }: { everywhere?: boolean | null } = {},
): Promise<Change[]> {
  // Without the lock, a session that is just beginning, or is renewed from this one, would not be seen, and would stay.
  // If this one was renewed first, the session that replaced it ends.
  await lockUser(tx, userId);
  if (everywhere) return (await store.deleteSessionsOf(tx, userId)).map(deleted);
  if (sessionId === null) throw new ApiError('no_session');
  // It may have ended since the credential was verified, and then nothing is left to do.
  const ended = await store.deleteSession(tx, userId, sessionId);
  return ended ? [deleted(ended)] : [];
}

export function createSessions({
  db,
  refreshTokens,
}: {
  db: Database;
  refreshTokens: RefreshTokens;
}): Sessions {
  const failures = createFailureLimit(REFRESH_FAILURES);

  /** Locks the user: a change of the password or a deactivation comes before or after this session, and ends it. */
  async function begin(
    tx: Tx,
    { userId, passwordHash }: SignInIdentity,
    session: Omit<store.NewSession, 'userId'>,
  ) {
    if (!(await noteSignIn(tx, userId, passwordHash ?? null))) return undefined;
    await store.deleteUnusedSessions(tx, userId, SESSIONS_MAX - 1);
    return store.insertSession(tx, { userId, ...session });
  }

  /** Begins a session that the person themselves asked for, and records it. */
  async function beginOwn(
    tx: Tx,
    who: SignInIdentity,
    kind: 'login' | 'console',
    origin: SignInOrigin,
    { tokenHash, replaces = [] }: EarlierSession = {},
  ) {
    const { ip, userAgent = null } = origin;
    const seconds = kind === 'console' ? CONSOLE_SECONDS : TOKENS_LIVE.idleSeconds;
    const begun = await begin(tx, who, { kind, clientId: null, userAgent, ip, seconds, replaces });
    if (!begun) return undefined;
    const [renewedId] = replaces;
    const renewed = renewedId === undefined ? undefined : { sessionId: renewedId, userId: who.userId };
    const replaced = tokenHash && (await store.deleteSessionOfToken(tx, tokenHash));
    await recordSignIn(tx, begun, origin, replaced ?? renewed);
    return begun;
  }

  async function issue(tx: Tx, sessionId: number): Promise<IssuedTokens> {
    const access = newAccessToken();
    const refresh = refreshTokens.create(sessionId);
    await store.updateRefreshHash(tx, sessionId, refresh.hash, TOKENS_LIVE);
    const { expiresAt } = await store.insertToken(tx, sessionId, access.hash, ACCESS_SECONDS);
    return { sessionId, accessToken: access.text, refreshToken: refresh.text, expiresAt };
  }

  return {
    async beginWithTokens(tx, who, origin) {
      const begun = await beginOwn(tx, who, 'login', origin);
      return begun && issue(tx, begun.id);
    },

    async beginConsole(tx, who, origin, earlier) {
      const begun = await beginOwn(tx, who, 'console', origin, earlier);
      if (!begun) return undefined;
      const token = newConsoleToken();
      await store.insertToken(tx, begun.id, token.hash, CONSOLE_SECONDS);
      return { sessionId: begun.id, token: token.text };
    },

    async requireOpen(tx, { userId, sessionId }) {
      await lockUser(tx, userId);
      const open = await store.findOpen(tx, userId, sessionId);
      if (!open) throw new ApiError('unauthenticated', { message: 'The session has ended: sign in again.' });
      const replaces = [sessionId, ...open.replaces].slice(0, REPLACED_MAX);
      return { isOfBrowser: open.kind === 'console', replaces };
    },

    async beginDevice(tx, { userId, sessionId }, device) {
      const begun = await begin(tx, { userId }, { kind: 'device', ...device });
      // What ends sessions locks the user first, so this is true until the commit.
      return begun && (await store.findOpen(tx, userId, sessionId)) ? begun.id : undefined;
    },

    async issueToDevice(tx, sessionId, origin) {
      await recordSignIn(tx, await store.findSession(tx, sessionId), origin);
      return issue(tx, sessionId);
    },

    async refresh(text, clientId, origin) {
      const given = refreshTokens.parse(text);
      if (!given) throw new ApiError('invalid_grant');
      const attempt = failures.begin(origin.ip);
      attempt.at(`session ${given.sessionId}`);
      const issued = await db
        .as(siteOf(origin.ip))
        .transaction((tx) => exchange(tx, given, clientId, origin))
        .catch((error) => {
          attempt.giveBack();
          throw error;
        });
      if (!issued) throw new ApiError('invalid_grant');
      attempt.giveBack();
      return issued;
    },
  };

  /** Of two calls with one token, the second finds another hash, and ends the session with the tokens of the first. */
  async function exchange(
    tx: Tx,
    { sessionId, hash }: { sessionId: number; hash: Buffer },
    clientId: string | null | undefined,
    { operation, ip, requestId }: SignInOrigin,
  ) {
    const session = await store.lockSession(tx, sessionId);
    if (!session || session.isOver) return undefined;
    if (!session.refreshHash || !timingSafeEqual(session.refreshHash, hash)) {
      const ended = await store.deleteSession(tx, session.userId, sessionId);
      await recordEvent(tx, {
        operation,
        resourceType: 'refusal',
        resourceId: `session ${sessionId}`,
        userId: session.userId,
        ip,
        requestId,
        details: { reason: 'A refresh token was used again, so the session was ended.', session: ended },
      });
      return undefined;
    }
    // The true client may still use the token, so it stays.
    if (session.clientId !== null && session.clientId !== clientId) return undefined;
    await store.deleteOldTokens(tx, sessionId, ACCESS_TOKENS_MAX - 1);
    return issue(tx, sessionId);
  }
}

const recordSignIn = (
  tx: Tx,
  { id, userId, kind, clientId, userAgent }: store.OwnedSession,
  { operation, ip, requestId }: SignInOrigin,
  replaced?: { sessionId: number; userId: number },
) =>
  recordEvent(tx, {
    operation,
    resourceType: 'signIn',
    resourceId: String(userId),
    userId,
    ip,
    requestId,
    details: { sessionId: id, kind, clientId: clientId ?? undefined, userAgent, replaced },
  });
