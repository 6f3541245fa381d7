/** Embed tokens reach only operations whose own entry opens them: an entry that is copied or spread opens nothing. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { allOperations } from '@oriel/contract';
import { expect, test } from 'vitest';

const FOLDER = join(import.meta.dirname, '../../contract/src/operations');
const sources = readdirSync(FOLDER).map((file) => readFileSync(join(FOLDER, file), 'utf8'));
/** The entry of each operation, from its name to the end of its call. */
const entries = new Map(
  sources.flatMap((text) =>
    [...text.matchAll(/^export const (\w+) = operation\((.*?)\);$/gms)].map(([, id, entry]) => [id!, entry!]),
  ),
);

test('an operation that embed tokens can call says so in its own entry', () => {
  const open = allOperations.filter(({ embed }) => embed !== undefined);
  expect(open.length).toBeGreaterThan(20);
  const silent = open.filter(({ id, embed }) => !entries.get(id)?.includes(`embed: '${embed}'`));
  expect(silent.map(({ id }) => id)).toEqual([]);
});

test('nothing that entries share opens operations', () => {
  const shared = sources.map((text) => text.replaceAll(/^export const \w+ = operation\(.*?\);$/gms, ''));
  expect(shared.filter((text) => /\bembed\b\s*[:,]/.test(text))).toEqual([]);
});
