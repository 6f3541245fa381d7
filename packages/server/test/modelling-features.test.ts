/** docs/modelling-features.md has a row for everything that the compiler knows, with a test that exists. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LANGUAGE } from '@oriel/semantic';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const rows = read('docs/modelling-features.md')
  .split('\n')
  .filter((line) => /^\| [^-W]/.test(line))
  .map((line) => {
    const [of, key, value, does, test] = line
      .split(/(?<!\\)\|/)
      .slice(1)
      .map((cell) => cell.trim());
    return { name: [of, key, value].filter(Boolean).join(' '), does, test };
  });

test('every key and every word that the compiler knows has a row, and nothing else has', () => {
  const known = LANGUAGE.flatMap(({ what, keys }) =>
    Object.entries(keys).flatMap(([key, words]) => [
      `${what} \`${key}\``,
      ...words.map((word) => `${what} \`${key}\` \`${word}\``),
    ]),
  );
  expect(known.length).toBeGreaterThan(100);
  expect(rows.map(({ name }) => name).toSorted()).toEqual(known.toSorted());
});

test('every row says what it does, and names a test that is in the file', () => {
  const missing = rows.filter(({ does, test }) => {
    const [, file, name] = /^\[(.+)\]\(\.\.\/(?:.+)\): (.+)$/.exec(test ?? '') ?? [];
    if (!does || !file || !name) return true;
    const quoted = `'${name}'`;
    const text = read(file);
    return ![`test(${quoted}`, `\n  ${quoted}: [`].some((start) => text.includes(start));
  });
  expect(missing).toEqual([]);
});
