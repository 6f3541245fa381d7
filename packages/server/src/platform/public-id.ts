import { randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 12;

const secureRandom = () => randomInt(2 ** 32) / 2 ** 32;

/** Returns an id that can be used in addresses and cannot be guessed: 12 characters of 0-9, A-Z, a-z. */
export const newPublicId = (random: () => number = secureRandom) =>
  Array.from({ length: LENGTH }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('');
