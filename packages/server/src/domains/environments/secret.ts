/** The secret of an environment token: its form, how it is generated, and what of it is kept. */
import { hashSecret, randomSecret } from '../../platform/secrets/random-secrets.ts';

export const TOKEN_PREFIX = 'oriel_env_';
const PATTERN = new RegExp(`^${TOKEN_PREFIX}[\\w-]{43}$`);
const SHOWN_CHARACTERS = 4;

export const looksLikeEnvironmentToken = (text: string) => PATTERN.test(text);

export interface NewSecret {
  text: string;
  hash: Buffer;
  ending: string;
}

export function newSecret(): NewSecret {
  const text = TOKEN_PREFIX + randomSecret();
  return { text, hash: hashSecret(text), ending: text.slice(-SHOWN_CHARACTERS) };
}

/** How lists show a token. */
export const maskedToken = (ending: string) => `${TOKEN_PREFIX}…${ending}`;
