/**
 * Refuses JSON that the parser would accept or change silently: very deep nesting, numbers that it rounds, keys that it
 * drops, text that PostgreSQL cannot store. It reads the body once, in time that grows only with its length.
 */
import { ApiError } from '../errors.ts';
import { HALF_A_CHARACTER, unstorable } from './unstorable.ts';

const DEPTH_MAX = 100;
/** Parsing takes time for every value, even a small one. This many values take less than a tenth of a second. */
const VALUES_MAX = 200_000;
/** A number with this many digits is always exact. */
const SAFE_DIGITS = 15;

const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const LETTER_U = 0x75;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** An object or array that is being read. */
interface Level {
  /** Null for an array. */
  keys: Set<string> | null;
  key: string;
  index: number;
  expectsKey: boolean;
}

/** Throws a 400. Malformed JSON is reported by the parser. */
export function checkJson(text: string): void {
  const levels: Level[] = [];
  let level: Level | undefined;
  let values = 0;
  let i = 0;
  while (i < text.length) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) {
      const end = endOfText(text, i + 1, levels);
      if (level?.expectsKey) addKey(level, levels, text.slice(i, end));
      i = end + 1;
      continue;
    }
    if (isDigit(char) || char === MINUS) {
      i = endOfNumber(text, i, levels);
      continue;
    }
    if (char === OPEN_OBJECT || char === OPEN_ARRAY) {
      if (levels.length === DEPTH_MAX) throw new ApiError('json_too_deep');
      const isObject = char === OPEN_OBJECT;
      level = { keys: isObject ? new Set() : null, key: '', index: 0, expectsKey: isObject };
      levels.push(level);
    } else if (char === CLOSE_OBJECT || char === CLOSE_ARRAY) {
      levels.pop();
      level = levels.at(-1);
    } else if (char === COMMA && level) {
      if (++values > VALUES_MAX) throw new ApiError('json_too_many_values');
      level.index++;
      level.expectsKey = level.keys !== null;
    } else if (char === COLON && level) {
      level.expectsKey = false;
    }
    i++;
  }
}

/** `quoted` begins with its quote, so that no key looks like a number. JavaScript engines hash numbers predictably. */
function addKey(level: Level, levels: Level[], quoted: string) {
  level.key = quoted.includes('\\') ? `"${unescaped(quoted)}` : quoted;
  if (level.key === '"__proto__')
    throw new ApiError('invalid_request', {
      message: 'The body has the key `__proto__`, which is not allowed.',
    });
  if (level.keys!.has(level.key)) {
    throw new ApiError('duplicate_key', { message: `The body has ${pathOf(levels)} twice in one object.` });
  }
  level.keys!.add(level.key);
}

function unescaped(quoted: string): string {
  try {
    return JSON.parse(`${quoted}"`);
  } catch (error) {
    throw new ApiError('malformed_json', { cause: error });
  }
}

/** Returns the index of the quote that ends the text that begins at `start`. */
function endOfText(text: string, start: number, levels: Level[]): number {
  let i = start;
  while (i < text.length) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) return i;
    if (char !== BACKSLASH) i++;
    else if (text.charCodeAt(i + 1) === LETTER_U) i = endOfEscape(text, i, levels);
    else i += 2;
  }
  return i;
}

/** In valid UTF-8, only an escape can add a NUL or half of a surrogate pair, and PostgreSQL cannot store them. */
function endOfEscape(text: string, i: number, levels: Level[]): number {
  const unit = unitAt(text, i);
  if (unit === 0) throw unstorable(placeOf(levels), 'NUL (U+0000)');
  if (unit < 0xd800 || unit > 0xdfff) return i + 6;
  const second = unit < 0xdc00 ? unitAt(text, i + 6) : 0;
  if (second < 0xdc00 || second > 0xdfff) throw unstorable(placeOf(levels), HALF_A_CHARACTER);
  return i + 12;
}

/** Returns the code unit of the escape `\uXXXX` at `i`, or a space if there is no such escape. */
function unitAt(text: string, i: number): number {
  const match = /^\\u([0-9a-f]{4})$/i.exec(text.slice(i, i + 6));
  return match ? Number.parseInt(match[1]!, 16) : 0x20;
}

const isDigit = (char: number) => char >= 0x30 && char <= 0x39;

function endOfNumber(text: string, start: number, levels: Level[]): number {
  let end = start + 1;
  let hasExponent = false;
  for (; end < text.length; end++) {
    const char = text.charCodeAt(end);
    if (char === 0x65 || char === 0x45) hasExponent = true;
    // The loop accepts digits, signs and the decimal point.
    else if (!isDigit(char) && char !== 0x2b && char !== MINUS && char !== 0x2e) break;
  }
  if (hasExponent || end - start > SAFE_DIGITS) requireExact(text.slice(start, end), levels);
  return end;
}

/**
 * Numbers are stored as doubles. A number that a double cannot hold exactly would be returned as a different number.
 */
function requireExact(number: string, levels: Level[]) {
  // Beyond the safe integers, several integers are rounded to the same double.
  const isTooLarge = Math.abs(Number(number)) > Number.MAX_SAFE_INTEGER;
  if (!isTooLarge && isExact(number)) return;
  const path = pathOf(levels);
  const where = path ? ` at ${path}` : '';
  throw isTooLarge
    ? new ApiError('integer_too_large', {
        message: `The body holds a number beyond ±${Number.MAX_SAFE_INTEGER}${where}: send it as text, if the field accepts text.`,
      })
    : new ApiError('number_too_precise', {
        message: `The body holds a number with more digits than can be kept${where}: round it, or send it as text if the field accepts text.`,
      });
}

const DIGITS_MAX = 100;

/** Whether the double, written with the same number of digits, has the same digits. */
function isExact(number: string): boolean {
  const value = Math.abs(Number(number));
  if (Number.isNaN(value)) return true;
  const digits = digitsOf(number);
  if (digits === '' || digits.length > DIGITS_MAX) return digits === '';
  return digitsOf(value.toPrecision(digits.length)) === digits;
}

/** Returns the significant digits: without the exponent, and without zeros at the start or the end. */
function digitsOf(number: string): string {
  const digits = number.replace(/e.*$/i, '').replaceAll(/[-.]/g, '');
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  return digits.slice(start, end);
}

const PATH_MAX = 200;

/** Returns where a text is: the path of a value, or that of the object whose key it is. */
const placeOf = (levels: Level[]) => pathOf(levels.at(-1)?.expectsKey ? levels.slice(0, -1) : levels);

/** Returns a path such as `userAttributes[1].value`. */
function pathOf(levels: Level[]): string {
  const path = levels
    .map(({ keys, key, index }, i) => (keys ? (i ? '.' : '') + key.slice(1) : `[${index}]`))
    .join('');
  return path.length > PATH_MAX ? `${path.slice(0, PATH_MAX).toWellFormed()}…` : path;
}
