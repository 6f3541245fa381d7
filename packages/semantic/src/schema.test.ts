/** The schema that editors use says the same of a file as the compiler. `compileText` of the tests compares them, too. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { schemaProblems } from '../test/schema.ts';
import { draftCubes } from './index.ts';

const root = join(import.meta.dirname, '../../..');

const filesBelow = (folder: string): [string, string][] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.ya?ml$/.test(file))
    .map((file) => [file, readFileSync(join(root, folder, file), 'utf8')]);

const guide = readFileSync(join(root, 'docs/modelling.md'), 'utf8');

test('the models of the demo, of the guide, of drafts and of the tests are valid by the schema', () => {
  const drafted = draftCubes([
    {
      schema: 'public',
      name: 'orders',
      columns: [
        { name: 'id', type: 'number' },
        { name: 'created_at', type: 'time' },
        { name: 'amount', type: 'number' },
      ],
      primaryKey: ['id'],
      foreignKeys: [],
    },
  ]);
  const files: [string, string][] = [
    ...filesBelow('packages/server/models'),
    ...filesBelow('packages/semantic/test/golden'),
    ...[...guide.matchAll(/```yaml\n(.*?)```/gs)].map(([, text], i): [string, string] => [
      `example ${i}`,
      text!,
    ]),
    ...drafted.map(({ path, text }): [string, string] => [path, text]),
  ];
  expect(files.length).toBeGreaterThan(12);
  for (const [name, text] of files) expect([name, schemaProblems(text)]).toEqual([name, []]);
});

const CUBE = 'cubes:\n  - name: a\n    sql_table: a\n';

test.each([
  ['a key that does not exist', `${CUBE}    dimension: []\n`],
  ['a key of the wider language that is refused', `${CUBE}    calendar: true\n`],
  ['a cube without a name', 'cubes:\n  - sql_table: a\n'],
  ['a name with a space', 'cubes:\n  - name: my cube\n    sql_table: a\n'],
  ['a list that is none', 'cubes:\n  name: a\n'],
  ['a word that there is not', `${CUBE}    measures:\n      - name: b\n        type: median\n`],
  ['a truth in quotes', `${CUBE}    public: "true"\n`],
  ['an interval without a unit', `${CUBE}    refresh_key:\n      every: 5\n`],
  [
    'a policy with nothing after its rows',
    `${CUBE}    access_policy:\n      - group: x\n        row_level:\n`,
  ],
  [
    'a condition with two words',
    `${CUBE}    access_policy:\n      - group: x\n        row_level:\n          filters:\n            - and: []\n              or: []\n`,
  ],
  ['a view whose cube has no members', 'views:\n  - name: v\n    cubes:\n      - join_path: a\n'],
])('%s is wrong by the schema', (_name, text) => {
  expect(schemaProblems(text)).not.toEqual([]);
});

test('keys with nothing after them, older words and aliases are valid, as they are for the compiler', () => {
  const text = `${CUBE}    sqlTable: a\n    dimensions:\n    measures:\n      - name: total\n        type: countDistinct\n        sql: b\n        shown: true\n`;
  expect(schemaProblems(text)).toEqual([]);
});
