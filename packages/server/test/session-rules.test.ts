/** The table of rules in docs/session-rules.md names tests that exist. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const folder = join(root, 'packages/server/src/domains/embed-sessions');
const page = readFileSync(join(root, 'docs/session-rules.md'), 'utf8');

/** The last cell of each row of a table, without the head. */
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| Rule |'))
  .map((line) => {
    const [, rule, , proof] = line.split(' | ').flatMap((cell, i) => (i ? [cell] : ['', cell.slice(2)]));
    return { rule: rule!, proof: proof!.replace(/ \|$/, '') };
  });
const proofs = rows.flatMap(({ rule, proof }) =>
  proof.split('<br>').map((text) => {
    const [, file, path] = /^`((?:\.\.\/[\w-]+\/)?[\w-]+\.test\.ts)`: `(.+)`$/.exec(text) ?? [];
    return { rule, text, file, titles: path?.split(' › ') };
  }),
);

const sourceOf = (file: string) => readFileSync(join(folder, file), 'utf8');
/** Whether the title is given to `test`, `describe` or a table of one of them. */
const isTitle = (source: string, title: string) => {
  const literal = `'${title.replaceAll("'", "\\'")}'`;
  return source.split(literal).some((before, i, parts) => {
    const after = parts[i + 1];
    return after !== undefined && /(test|describe|\))\(\s*$/.test(before) && /^,/.test(after);
  });
};

test('there are rules, and each names a test', () => {
  expect(rows.length).toBeGreaterThan(80);
  expect(proofs.filter(({ titles }) => !titles)).toEqual([]);
});

test('every file and title that the rules name exists', () => {
  const missing = proofs.filter(
    ({ file, titles }) =>
      !file || !existsSync(join(folder, file)) || !titles?.every((title) => isTitle(sourceOf(file), title)),
  );
  expect(missing.map(({ text }) => text)).toEqual([]);
});
