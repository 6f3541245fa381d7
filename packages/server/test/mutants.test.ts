/** Which faults `npm run test:mutants` makes. That tests notice them is tested in mutants.check.ts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { root } from '../../../scripts/install.mjs';
import { findMutants } from '../../../scripts/mutants/find.ts';
import { editsOfSql } from '../../../scripts/mutants/sql-edits.ts';

const editedSql = (text: string) =>
  editsOfSql(text).map(({ start, end, replacement }) =>
    (text.slice(0, start) + replacement + text.slice(end)).replaceAll(/\s+/g, ' ').trim(),
  );

test.each([
  ['where a = 1 and b = 2 order by c', ['where a = 1 order by c', 'where b = 2 order by c']],
  ['where a and (b or c) and d', ['where a and d', 'where (b or c) and d', 'where a and (b or c)']],
  ['where a between 1 and 2 and b', ['where a between 1 and 2', 'where b']],
  ["where a = ' and ' or b", []],
  ['(x and y) or z', ['(x ) or z', '( y) or z']],
  ['least(a, f(b, c), 3)', ['least( f(b, c), 3)', 'least(a, 3)', 'least(a, f(b, c))']],
  ['where a <@ b', ['where a && b']],
  ['where a is not distinct from (b, c) and d', ['where a is not distinct from (b, c)', 'where d']],
  ['select 1 for no key update', ['select 1']],
  ['select 1 for update of a skip locked', ['select 1']],
])('of the SQL %j', (text, edited) => {
  expect(editedSql(text)).toEqual(edited);
});

const SOURCE = `
  import { sql } from './sql.ts';
  export function f(a: number, b?: { c: number }, db = 1) {
    if (a > 1 || b === undefined) throw new Error('no');
    const key = \`\${a}:\${b?.c}\`;
    requireAll(a);
    return Math.min(a, 10) && transaction((tx) => tx.run(sql\`delete from t where a = \${a} and b\`));
  }
  export async function g() {
    await f(1);
  }
  const transaction = (work: (tx: { run(x: unknown): void }) => unknown) => work({ run() {} });
  declare function requireAll(a: number): void;
`;

test('each place where a guarantee may hang on one word is changed', async () => {
  const cache = join(root, 'node_modules', '.cache');
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'oriel-mutants-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'tsconfig.json'), '{ "files": ["source.ts"] }');
  writeFileSync(join(folder, 'source.ts'), SOURCE);
  const { mutants } = await findMutants(new Map([['source.ts', undefined]]), folder);
  expect(mutants.map(({ operator, text }) => `${operator}: ${text.replaceAll('$', '')}`)).toEqual([
    'guard: a > 1 || b === undefined',
    'part of a guard: a > 1',
    'part of a guard: b === undefined',
    'part of a key: {a}',
    'part of a key: {b?.c}',
    'call: requireAll(a)',
    'conjunct: Math.min(a, 10)',
    'argument of min: a',
    'argument of min: 10',
    'conjunct: transaction((tx) => tx.run(sql`delete from t where a = {a} and b`))',
    'tx: tx',
    'conjunct of SQL: and b',
    'conjunct of SQL: a = {a} and',
    'await: await f(1)',
  ]);
});
