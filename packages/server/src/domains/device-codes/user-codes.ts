/** The short code that a person types. Without vowels it spells no words, and no letter looks like a digit (RFC 8628). */
import { randomInt } from 'node:crypto';
import { hashSecret } from '../../platform/secrets/random-secrets.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

export const newUserCode = () =>
  Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** Case, spaces and dashes do not matter. */
const lettersOf = (typed: string) => typed.toUpperCase().replaceAll(/[^A-Z]/g, '');

export const hashUserCode = (typed: string) => hashSecret(lettersOf(typed));

/** As devices show it: with a dash in the middle. */
export function shownUserCode(typed: string): string {
  const letters = lettersOf(typed);
  return letters.length === LENGTH ? `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}` : letters;
}
