import { expect, test, vi } from 'vitest';
import { FIELDS_MAX_BYTES, whatDiffers, whatIsKept, withinLimits } from './differences.ts';
import { MASK } from './mask.ts';

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
  expect(withinLimits({ name: 'a', large, other: `${large}.` })).toEqual({
    name: 'a',
    large: { bytes: 20_002, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    other: { bytes: 20_003, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  });
  const { large: one, other } = withinLimits({ large, other: `${large}.` }) as Record<
    string,
    { sha256: string }
  >;
  expect(one!.sha256).not.toBe(other!.sha256);
});

test('if all values together are too large, large ones are replaced and small ones stay', () => {
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field${i}`, 'x'.repeat(3000)]));
  const short = withinLimits({ ...fields, name: 'kept' }) as Record<string, unknown>;
  expect(JSON.stringify(short).length).toBeLessThan(FIELDS_MAX_BYTES);
  expect(short).toMatchObject({ name: 'kept', field0: { bytes: 3002 } });
});

test('if there are too many fields, all of them are replaced', () => {
  const fields = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`field${i}`, 'small']));
  expect(withinLimits(fields)).toEqual({ bytes: expect.any(Number), sha256: expect.any(String) });
});

test('however large a change is, only as much text as an entry may hold is searched for secrets', () => {
  const text = `${'-eyJ'.repeat(1000)} sk-${'x'.repeat(30)}`;
  const settings = Array.from({ length: 1000 }, () => text);
  const searched: number[] = [];
  const search = String.prototype.replaceAll;
  const spy = vi.spyOn(String.prototype, 'replaceAll').mockImplementation(function (this: string, ...given) {
    searched.push(this.length);
    return search.apply(this, given as Parameters<typeof search>);
  });
  const fields = Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`field${i}`, text.slice(-2000)]));
  const kept = whatIsKept({
    before: { settings, ...fields },
    after: { settings: [], note: text.slice(-100) },
  });
  spy.mockRestore();
  expect(searched.reduce((sum, length) => sum + length, 0)).toBeLessThan(2 * FIELDS_MAX_BYTES);
  expect(kept).toMatchObject({ before: { settings: { bytes: expect.any(Number) } } });
  expect(JSON.stringify(kept)).not.toContain('xxxx');
});

test('the digest of a large value does not depend on its secret fields, so that nobody can guess them by it', () => {
  const settings = (more: object) =>
    withinLimits({ settings: { text: 'x'.repeat(5000), ...more } }) as Digests;
  type Digests = { settings: { sha256: string } };
  const { sha256 } = settings({ password: 'one' }).settings;
  expect(settings({ password: 'two' }).settings.sha256).toBe(sha256);
  expect(settings({ note: 'two' }).settings.sha256).not.toBe(sha256);
});

test('a change of a secret alone is kept, and shows neither', () => {
  const kept = whatIsKept({ before: { id: 1, password: 'one' }, after: { id: 1, password: 'two' } });
  expect(kept).toEqual({ before: { password: MASK }, after: { password: MASK }, isKept: true });
});
