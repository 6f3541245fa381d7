import { expect, test } from 'vitest';
import { FIELDS_MAX_BYTES, shorten, whatDiffers } from './differences.ts';

test('an update keeps only the fields that differ', () => {
  const before = { id: 1, name: 'a', meta: { x: [1] }, gone: true };
  const after = { id: 1, name: 'b', meta: { x: [1] }, come: null };
  expect(whatDiffers({ before, after })).toEqual({
    before: { name: 'a', gone: true },
    after: { name: 'b', come: null },
  });
});

test('a creation or deletion keeps every field', () => {
  expect(whatDiffers({ before: null, after: { id: 1 } })).toEqual({ before: null, after: { id: 1 } });
  expect(whatDiffers({ before: { id: 1 }, after: null })).toEqual({ before: { id: 1 }, after: null });
});

test('a large value is replaced by its size and digest', () => {
  const large = 'ä'.repeat(10_000);
  expect(shorten({ name: 'a', large, other: `${large}.` })).toEqual({
    name: 'a',
    large: { bytes: 20_002, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    other: { bytes: 20_003, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  const { large: one, other } = shorten({ large, other: `${large}.` }) as Record<string, { sha256: string }>;
  expect(one!.sha256).not.toBe(other!.sha256);
});

test('if all values together are too large, large ones are replaced and small ones stay', () => {
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field${i}`, 'x'.repeat(15_000)]));
  const short = shorten({ ...fields, name: 'kept' }) as Record<string, unknown>;
  expect(JSON.stringify(short).length).toBeLessThan(FIELDS_MAX_BYTES);
  expect(short).toMatchObject({ name: 'kept', field0: { bytes: 15_002 } });
});
