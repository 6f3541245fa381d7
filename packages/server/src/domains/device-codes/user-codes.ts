/** The short code that a person types. Without vowels it spells no words, and no letter looks like a digit (RFC 8628). */
import { randomInt } from 'node:crypto';
import { hashSecret } from '../../platform/secrets/random-secrets.ts';

const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const LENGTH = 8;

export const newUserCode = () =>
  Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');

export const shownUserCode = (code: string) => `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;

/** Case, spaces and dashes do not matter. */
export const hashUserCode = (typed: string) => hashSecret(typed.toUpperCase().replaceAll(/[^A-Z]/g, ''));
