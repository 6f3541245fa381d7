/** The tokens of a session: their forms, how they are made, and the hashes that are stored. */
import { createCheckedIds } from '../../platform/secrets/checked-ids.ts';
import type { Keys } from '../../platform/secrets/keyring.ts';
import { hashSecret, randomSecret } from '../../platform/secrets/random-secrets.ts';

/** The prefixes tell people and tools that search for leaked secrets what they found. */
export const ACCESS_PREFIX = 'oriel_access_';
export const CONSOLE_PREFIX = 'oriel_console_';
const REFRESH_PREFIX = 'oriel_refresh_';
/** More than 256 bits, and a multiple of three as ids need it. */
const REFRESH_BYTES = 33;

const SECRET_PATTERN = '[\\w-]{43}$';
const ACCESS_PATTERN = new RegExp(`^${ACCESS_PREFIX}${SECRET_PATTERN}`);
const CONSOLE_PATTERN = new RegExp(`^${CONSOLE_PREFIX}${SECRET_PATTERN}`);

export const looksLikeAccessToken = (text: string) => ACCESS_PATTERN.test(text);
export const looksLikeConsoleToken = (text: string) => CONSOLE_PATTERN.test(text);

export interface NewToken {
  text: string;
  hash: Buffer;
}

const newToken = (prefix: string): NewToken => {
  const text = prefix + randomSecret();
  return { text, hash: hashSecret(text) };
};

export const newAccessToken = () => newToken(ACCESS_PREFIX);
export const newConsoleToken = () => newToken(CONSOLE_PREFIX);

export interface RefreshTokens {
  create(sessionId: number): NewToken;
  /** Returns undefined if these servers did not make the token. */
  parse(text: string): { sessionId: number; hash: Buffer } | undefined;
}

/**
 * A refresh token names its session and is signed. So a token that was used before is recognised, and ends its session,
 * although only the hash of the newest one is stored.
 */
export function createRefreshTokens(keys: Keys): RefreshTokens {
  const ids = createCheckedIds(keys, { secretBytes: REFRESH_BYTES });
  return {
    create(sessionId) {
      const text = REFRESH_PREFIX + ids.format(sessionId, ids.newSecret());
      return { text, hash: hashSecret(text) };
    },
    parse(text) {
      const parsed = text.startsWith(REFRESH_PREFIX)
        ? ids.parse(text.slice(REFRESH_PREFIX.length))
        : undefined;
      return parsed && { sessionId: parsed.id, hash: hashSecret(text) };
    },
  };
}
