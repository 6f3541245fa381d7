import { createCipheriv, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { BoxError, createBox } from './box.ts';
import { createKeyring, deriveKey } from './keyring.ts';

const [OLD, NEW, OTHER] = ['the old secret of this test, 001', 'the new secret', 'another secret'] as [
  string,
  string,
  string,
];
const TOKENS = {
  table: 'remotes',
  column: 'token',
  keyColumn: 'id',
  holds: 'tokens',
  unmarkedPurpose: 'old tokens',
};
const PLAIN = Buffer.from('what nobody may read');
const box = createBox(TOKENS, createKeyring([NEW]));

const codeOf = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(BoxError);
    return (error as BoxError).code;
  }
  return 'opened';
};

test('a sealed value can be opened in its own row, and does not reveal its content', () => {
  const sealed = box.seal('7', PLAIN);
  expect(box.open('7', sealed)).toEqual(PLAIN);
  expect(sealed.includes(PLAIN)).toBe(false);
  expect(box.seal('7', PLAIN)).not.toEqual(sealed);
  expect(box.open('7', box.seal('7', Buffer.alloc(0)))).toEqual(Buffer.alloc(0));
});

test('a value that was sealed for one row, column or table cannot be opened in another', () => {
  const sealed = box.seal('7', PLAIN);
  expect(codeOf(() => box.open('8', sealed))).toBe('altered');
  const elsewhere = [
    { ...TOKENS, column: 'password' },
    { ...TOKENS, table: 'webhooks' },
    // These names would give the same text if they were only joined.
    { ...TOKENS, table: 'remote', column: 'stoken' },
  ];
  for (const place of elsewhere) {
    expect(codeOf(() => createBox(place, createKeyring([NEW])).open('7', sealed))).toBe('altered');
  }
});

test('a value with any byte changed, removed or added cannot be opened', () => {
  const sealed = box.seal('7', PLAIN);
  for (let i = 0; i < sealed.length; i++) {
    const changed = Buffer.from(sealed);
    changed[i]! ^= 1;
    expect([i, codeOf(() => box.open('7', changed))]).toEqual([
      i,
      i >= 4 && i < 12 ? 'unknown_key' : 'altered',
    ]);
  }
  for (let length = 0; length < sealed.length; length++) {
    expect(codeOf(() => box.open('7', sealed.subarray(0, length)))).not.toBe('opened');
  }
  expect(codeOf(() => box.open('7', Buffer.concat([sealed, Buffer.alloc(1)])))).toBe('altered');
});

test('while a secret is being replaced, values of both secrets can be opened, and the first one seals', () => {
  const before = createBox(TOKENS, createKeyring([OLD, NEW]));
  const after = createBox(TOKENS, createKeyring([NEW, OLD]));
  for (const sealing of [before, after]) {
    for (const opening of [before, after]) expect(opening.open('7', sealing.seal('7', PLAIN))).toEqual(PLAIN);
  }
  expect(box.open('7', after.seal('7', PLAIN))).toEqual(PLAIN);
  expect(codeOf(() => box.open('7', before.seal('7', PLAIN)))).toBe('unknown_key');
});

test('an error about a missing secret names its id, and nothing else about it', () => {
  const sealed = createBox(TOKENS, createKeyring([OTHER])).seal('7', PLAIN);
  const id = createKeyring([OTHER]).ids[0].toString('hex');
  expect(() => box.open('7', sealed)).toThrow(
    `remotes.token of 7 was sealed with the secret ${id}, which is not given`,
  );
});

/** Seals a value in the old form, without a mark. */
function sealedAsBefore(secret: string, plain: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', deriveKey(secret, 'old tokens'), nonce, { authTagLength: 16 });
  const encrypted = [cipher.update(plain), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...encrypted]);
}

test('old values without a mark can still be opened, with any of the secrets', () => {
  expect(createBox(TOKENS, createKeyring([NEW, OLD])).open('7', sealedAsBefore(OLD, PLAIN))).toEqual(PLAIN);
  expect(box.open('7', sealedAsBefore(NEW, PLAIN))).toEqual(PLAIN);
  expect(codeOf(() => box.open('7', sealedAsBefore(OTHER, PLAIN)))).toBe('altered');
  const { unmarkedPurpose: _, ...fresh } = TOKENS;
  const never = createBox(fresh, createKeyring([NEW]));
  expect(codeOf(() => never.open('7', sealedAsBefore(NEW, PLAIN)))).toBe('altered');
});
