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
  mercedes corvette mustang ferrari porsche yamaha harley ducati honda toyota nissan camaro chevy jaguar
  ginger pepper cookie banana orange cherry coffee peanut buster bailey maggie molly lucky sparky snoopy garfield mickey
  donald simpson pikachu zelda mario matrix phoenix falcon eagle panther cowboy yankees lakers steelers rangers patriots
  barcelona juventus milan manchester united celtic hockey tennis golf guitar music rockstar metallica slipknot nirvana
  angel angels heaven jesus christ blessed faith forever always together beautiful happy smile kitty kitten puppy doggy
  bunny honey sugar sweety darling baby girl boy friend family mother father sister brother
  alexander alexandra anthony amanda benjamin brandon brittany carlos christian christopher danielle david diamond edward
  elizabeth emily gabriel george hannah isabella jackson jasmine john jonathan jordan joseph joshua justin katherine
  lauren maria martin matthew melissa natalie nathan nicholas olivia oliver patrick rachel rebecca richard ryan sophie
  stephanie steven taylor vanessa victoria vincent william
  monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october
  november december america canada london paris berlin madrid germany france england australia
  silver golden purple yellow green black white blue red one two three
  spring autumn qwertyuiop qwerty qwertz azerty qwert qwer qwe asdfghjkl asdfgh asdf asd jkl zxcvbnm zxcvbn zxcv zxc
  qazwsx qazwsxedc zaqwsx
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

/** The signs above the digits of a keyboard: `!@#$%^&*` is typed like `12345678`. */
const DIGIT_SIGNS = ')!@#$%^&*(';
const withDigits = (text: string) =>
  text.replaceAll(/[)!@#$%^&*(]/g, (sign) => String(DIGIT_SIGNS.indexOf(sign)));

const lettersOf = (text: string) => text.replaceAll(/[^\p{L}]/gu, '');
const undisguised = (text: string) => text.replaceAll(/[013457@$]/g, (sign) => DISGUISES[sign]!);

/** As many common words, or digits and signs beside them, are not guessed soon. */
const WORDS_ENOUGH = 5;
const DIGITS_ENOUGH = 10;

/**
 * Whether the password is a well-known number, a date, a run or a repetition such as `12345678` or `abcabcabc`, or
 * nothing but a few common words and the name or email of its owner, with a few digits and signs between them.
 */
export function isEasyPassword(password: string, owner?: PasswordOwner): boolean {
  const text = password.normalize('NFC').toLowerCase();
  if (isPattern(text) || isPattern(text.replaceAll(/[-./ ]/g, ''))) return true;
  const names = owner ? namesOf(owner) : [];
  return [text, undisguised(text)].some((form) => isMadeOfWords(form, names));
}

function isPattern(text: string): boolean {
  const typed = withDigits(text);
  return NUMBERS.has(typed) || isDate(text) || isRun(typed) || /^(.{1,4})\1+$/su.test(text);
}

export function requireHardPassword(path: string, password: string, owner: PasswordOwner): void {
  if (!isEasyPassword(password, owner)) return;
  const error = new ApiError('password_too_easy');
  throw new ApiError('password_too_easy', { issues: [{ path, message: error.message }] });
}

const without = (text: string, words: string[]) =>
  words.reduce((rest, word) => rest.replaceAll(word, ' '), text);

function isMadeOfWords(text: string, names: string[]): boolean {
  const letters = lettersOf(text);
  if (!letters) return false;
  const withoutOwn = without(letters, wordsOf(names));
  const between = withoutOwn.replaceAll(COMMON, ' ').split(' ');
  // The plural of a word is as common.
  if (between.some((part) => part !== '' && part !== 's')) return false;
  // Short words are parts of phrases such as `change me`.
  const words = new Set(withoutOwn.match(COMMON)?.filter((word) => word.length > 3));
  return words.size < WORDS_ENOUGH && countDigits(without(text, names)) < DIGITS_ENOUGH;
}

/** The digits, unless they are a date or such, and each sign once. */
function countDigits(text: string): number {
  const digits = text.replaceAll(/\D/g, '');
  const signs = new Set(text.replaceAll(/[\p{L}\d\s]/gu, ''));
  return (isPattern(digits) ? 0 : digits.length) + signs.size;
}

/** The names of the owner, with the part of the email before the `@`. */
function namesOf({ username = '', email, firstName }: PasswordOwner): string[] {
  const names = [username, email, email.split('@')[0]!, firstName ?? ''];
  return longestFirst(names.map((name) => name.normalize('NFC').toLowerCase()));
}

/** The names, whole and in parts: `ada`, `lovelace`, `example` and `com` of `ada.lovelace@example.com`. */
function wordsOf(names: string[]): string[] {
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

/** Eight digits that are a day of the last or this century: `19900131`, `31011990` or `01311990`. */
function isDate(text: string): boolean {
  const year = '(?:19|20)\\d\\d';
  const month = '(?:0[1-9]|1[0-2])';
  const day = '(?:0[1-9]|[12]\\d|3[01])';
  return new RegExp(`^(?:${year}${month}${day}|${day}${month}${year}|${month}${day}${year})$`).test(text);
}
