/** The table of limits in docs/operating.md has the largest bodies of the contract. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { allOperations } from './index.ts';
import { sizeText } from './limits.ts';
import { bodyLimitOf } from './operation.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/operating.md'), 'utf8');

test('the table has each limit of a body once, and no other', () => {
  const written = [...page.matchAll(/^\| Body .* \| ([\d.]+ [KM]B) \| 413 \|$/gm)].map(([, size]) => size!);
  const sizes = allOperations.map(bodyLimitOf).filter((bytes) => bytes > 0);
  expect(written.toSorted()).toEqual([...new Set(sizes.map(sizeText))].sort());
});
