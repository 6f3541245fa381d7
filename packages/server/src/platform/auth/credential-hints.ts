/** Tells a caller how to send a credential. Says what is wrong with the form of the header, never whose key it is. */
import type { Auth } from '@oriel/contract';
import { ApiError } from '../errors.ts';
import { API_KEY_PREFIX } from './api-keys.ts';

const HOW: Record<Auth, string> = {
  public: '',
  management: 'Send `Authorization: Api-Key sk-…` or `Authorization: Bearer <token>`.',
  apiKey: 'Send `Authorization: Api-Key sk-…`.',
  embed: 'Send `Authorization: Bearer <token>`, with the token that an embed session was exchanged for.',
};

export const unauthenticated = (authorization: string | undefined, auth: Auth) =>
  new ApiError('unauthenticated', { message: `${whatIsWrong(authorization, auth)} ${HOW[auth]}` });

function whatIsWrong(authorization: string | undefined, auth: Auth): string {
  const given = authorization?.trim();
  if (!given) return 'The request has no Authorization header.';
  const [scheme, secret, ...rest] = given.split(/ +/);
  if (!secret) {
    return isScheme(scheme!)
      ? `The Authorization header has nothing behind \`${scheme}\`.`
      : 'The Authorization header has no scheme, such as `Api-Key`, in front of the credential.';
  }
  if (!isScheme(scheme!)) return `The scheme ${shown(scheme!)}of the Authorization header is not taken.`;
  if (rest.length) return 'The Authorization header has more than one credential behind its scheme.';
  if (auth === 'embed') return 'This operation takes no API key.';
  if (/^bearer$/i.test(scheme!)) return 'This operation takes an API key, and no token.';
  return secret.startsWith(API_KEY_PREFIX)
    ? `What was sent is no API key. A key is \`${API_KEY_PREFIX}\`, followed by 8 to 253 printable characters.`
    : `The API key does not begin with \`${API_KEY_PREFIX}\`.`;
}

const isScheme = (text: string) => /^(api-key|bearer)$/i.test(text);

/** Only what is clearly the name of a scheme is repeated: anything else may be a secret. */
const shown = (scheme: string) => (/^[A-Za-z-]{1,12}$/.test(scheme) ? `\`${scheme}\` ` : '');
