/**
 * Explains to a caller how to send a credential. The message says what is wrong with its form, and never whose
 * credential it is.
 */
import { ApiError } from '../errors.ts';
import { type CredentialKind, comesWith, kindOf, type PresentedCredential } from './credentials.ts';

interface Kinds {
  /** The kinds that the operation accepts. */
  taken: readonly CredentialKind[];
  all: readonly CredentialKind[];
}

/** `given` is missing if the header cannot be read as one credential. */
export function unauthenticated(
  authorization: string | undefined,
  given: PresentedCredential | undefined,
  kinds: Kinds,
) {
  const how = kinds.taken.map(({ howToSend }) => howToSend).join(' or ');
  return new ApiError('unauthenticated', {
    message: `${whatIsWrong(authorization, given, kinds)} Send ${how}.`,
  });
}

function whatIsWrong(
  authorization: string | undefined,
  given: PresentedCredential | undefined,
  kinds: Kinds,
): string {
  const isScheme = (text: string) => kinds.all.some(({ schemes }) => schemes.includes(text.toLowerCase()));
  const [scheme, secret] = authorization?.trim().split(/ +/) ?? [];
  if (!scheme) return 'The request has no Authorization header.';
  if (!secret && isScheme(scheme)) return `The Authorization header has nothing after \`${scheme}\`.`;
  if (given?.scheme === '' && !kinds.taken.some(({ schemes }) => schemes.includes(''))) {
    return 'The Authorization header has no scheme, such as `Api-Key`, before the credential.';
  }
  if (secret && !isScheme(scheme))
    return `The scheme ${shown(scheme)}of the Authorization header is not supported.`;
  if (!given) return 'The Authorization header has more than one credential after its scheme.';
  return whyNotTaken(given, kinds) ?? 'The request has no credential that this operation accepts.';
}

function whyNotTaken(given: PresentedCredential, { taken, all }: Kinds): string | undefined {
  const candidates = taken.filter((kind) => comesWith(kind, given));
  const others = all.filter((kind) => !taken.includes(kind));
  const other =
    kindOf(others, given) ?? (candidates.length ? undefined : others.find((kind) => comesWith(kind, given)));
  if (other) return `This operation takes no ${other.name}.`;
  return candidates.map((kind) => kind.whyNot?.(given)).find((reason) => reason !== undefined);
}

/** Repeats the scheme only if it is clearly the name of a scheme, because any other text may be a secret. */
const shown = (scheme: string) => (/^[A-Za-z-]{1,12}$/.test(scheme) ? `\`${scheme}\` ` : '');
