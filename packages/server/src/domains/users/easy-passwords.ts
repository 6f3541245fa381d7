/** The one rule for which passwords are too easy to guess. It holds wherever a password is set. */
import { ApiError } from '../../platform/errors.ts';

/** Who the password is for. */
export interface PasswordOwner {
  username?: string | undefined;
  email: string;
  firstName?: string | null | undefined;
}

/** The words that most of the leaked passwords with 8 or more characters are made of. */
const WORDS = `
  password passwort passw pass word admin administrator root user guest login welcome hello letmein letme changeme change
  me my your this secret key default insecure example please test demo oriel token master access system server
  iloveyou love lovely babygirl princess sunshine sweetheart football baseball basketball soccer liverpool arsenal chelsea
  superman batman spiderman starwars pokemon naruto minecraft monkey dragon tiger killer shadow hunter ranger
  michael jordan jennifer jessica ashley charlie daniel andrew thomas robert samantha michelle nicole
  computer internet samsung google facebook whatever trustno freedom cheese chocolate butterfly flower summer winter
  spring autumn qwertyuiop qwerty qwertz azerty qwert qwer asdfghjkl asdfgh asdf zxcvbnm zxcvbn zxcv qazwsx qazwsxedc zaqwsx
  abcdefgh abcdef abcd abc xyz aa bb cc
`;
const NUMBERS = new Set([
  '147258369',
  '789456123',
  '741852963',
  '159357456',
  '10203040',
  '135792468',
  '102030405',
]);

/** Longest first, because the expression takes the first alternative that fits. */
const longestFirst = (words: string[]) => words.filter(Boolean).sort((a, b) => b.length - a.length);
const COMMON = new RegExp(longestFirst(WORDS.split(/\s+/)).join('|'), 'g');

/** How people disguise letters. */
const DISGUISES: Record<string, string> = {
  '0': 'o',
  '1': 'i',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '@': 'a',
  $: 's',
};

const lettersOf = (text: string) => text.replaceAll(/[^\p{L}]/gu, '');
const undisguised = (text: string) => text.replaceAll(/[013457@$]/g, (sign) => DISGUISES[sign]!);

/**
 * Whether the password is a well-known one, a run or a repetition such as `12345678` or `abcabcabc`, or nothing but
 * common words and the name or email of its owner, with whatever digits and signs between them.
 */
export function isEasyPassword(password: string, owner?: PasswordOwner): boolean {
  const text = password.normalize('NFC').toLowerCase();
  if (NUMBERS.has(text) || isRun(text) || /^(.{1,4})\1+$/su.test(text)) return true;
  const own = owner ? ownWords(owner) : [];
  return [text, undisguised(text)].some((form) => isMadeOf(lettersOf(form), own));
}

export function requireHardPassword(path: string, password: string, owner: PasswordOwner): void {
  if (!isEasyPassword(password, owner)) return;
  const error = new ApiError('password_too_easy');
  throw new ApiError('password_too_easy', { issues: [{ path, message: error.message }] });
}

function isMadeOf(letters: string, own: string[]): boolean {
  if (!letters) return false;
  const withoutOwn = own.reduce((rest, word) => rest.replaceAll(word, ' '), letters);
  return withoutOwn.replaceAll(COMMON, '').trim() === '';
}

/** The name and the email, whole and in parts: `ada`, `lovelace`, `example` and `com` of `ada.lovelace@example.com`. */
function ownWords({ username = '', email, firstName }: PasswordOwner): string[] {
  const names = [username, email, firstName ?? ''].map((name) => name.normalize('NFC').toLowerCase());
  const parts = names.flatMap((name) => [lettersOf(name), ...name.split(/[^\p{L}]+/u)]);
  // A part of one or two letters would be found in many good passwords.
  return longestFirst([...new Set(parts)].filter((part) => part.length > 2));
}

/** `12345678`, `87654321`, `11223344`, `abcdefgh`: each character is the one before it, or next to it. */
function isRun(text: string): boolean {
  const codes = [...text].map((character) => character.codePointAt(0)!);
  return codes.every((code, at) => {
    const step = Math.abs(code - (codes[at - 1] ?? code));
    return step <= 1 || (step === 9 && /^\d+$/.test(text));
  });
}
