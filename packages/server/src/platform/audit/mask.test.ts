import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { MASK, maskSecrets } from './mask.ts';

const LENGTH = 1024 * 1024;
/** Far more than masking needs, and far less than it would need if its time grew with the square of the length. */
const TIME_LIMIT_MS = 30_000;

/** Beginnings of each pattern, which end where it could still match. */
const BEGINNINGS = [
  '-eyJ',
  'eyJaaaaaaaa.',
  '-sk-a',
  'sk-aaaaaaaaaaaaaaa ',
  'oriel_a_',
  '-oriel_a',
  'oriel_a_1111111111111. ',
  '-1.',
  '1',
  '$argon2',
  '-----BEGIN ',
  '-----BEGIN PRIVATE KEY',
  '://a:',
  '://:a@',
  ':',
  ' ',
];

describe('masking takes time that grows only with the length of the text', () => {
  test.each(BEGINNINGS)('%j, again and again', (beginning) => {
    for (const start of ['', 'eyJaaaaaaaaaa.', '://a:', '-----BEGIN ']) {
      const text = start + beginning.repeat(LENGTH / beginning.length);
      // The limit also ends a search that would take hours.
      const masked = runInNewContext('mask(text)', { mask: maskSecrets, text }, { timeout: TIME_LIMIT_MS });
      expect(typeof masked).toBe('string');
    }
  });

  test('and the names of fields', () => {
    const fields = { ['passwor'.repeat(LENGTH / 7)]: 'x', [`${'a'.repeat(LENGTH)}password`]: 'y' };
    expect(Object.values(maskSecrets(fields))).toEqual([MASK, MASK]);
  });
});

test('a token is masked also if it is incomplete, or stands behind a hyphen', () => {
  const start = 'eyJhbGciOiJFZERTQSJ9';
  for (const token of [start, `${start}.`, `${start}.eyJzdWIiOiIxIn0`, `jwt-${start}.eyJzdWIiOiIxIn0.c2ln`]) {
    expect(maskSecrets(`see ${token}`)).not.toMatch(/eyJ|c2ln/);
  }
});

test('a secret in the place of a name is masked', () => {
  expect(maskSecrets({ notifications: { 'sk-0123456789abcdefghij': true } })).toEqual({
    notifications: { [MASK]: true },
  });
});
