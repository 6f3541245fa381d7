import { randomInt } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const LENGTH = 12;

const secureRandom = () => randomInt(2 ** 32) / 2 ** 32;

/** An id that can be shown in addresses and not be guessed: 12 of 0-9, A-Z, a-z. */
export const newPublicId = (random: () => number = secureRandom) =>
  Array.from({ length: LENGTH }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('');
