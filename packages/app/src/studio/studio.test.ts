import { describe, expect, test } from 'vitest';
import { modelSchema } from '../../../semantic/src/index.ts';
import { leftOver, sourcesOf, variablesFor } from '../sources/variables.ts';
import { accessCsv } from './access.ts';
import { type CompletionContext, complete } from './completion.ts';
import { decidedFile, findConflicts, UNDECIDED } from './conflict-files.ts';
import { diffRows } from './diff.ts';
import { treeOf } from './files.ts';
import type { JsonSchema } from './language.ts';
import type { KnownCube } from './messages.ts';
import { type Choice, hasMarkers, mergeTexts, writeMerged } from './three-way.ts';
import { placeIn } from './yaml-place.ts';

const cube = (name: string, members: [string, 'dimension' | 'measure'][], table = ''): KnownCube => ({
  name,
  isView: false,
  file: `model/${name}.yml`,
  line: 1,
  title: undefined,
  description: undefined,
  table,
  query: '',
  dataSource: 'default',
  members: members.map(([member, kind]) => ({
    name: member,
    kind,
    type: '',
    title: undefined,
    description: undefined,
    isPublic: true,
  })),
  joins: [],
  isOpen: false,
});

const KNOWN: CompletionContext = {
  schema: modelSchema() as JsonSchema,
  cubes: [
    cube(
      'orders',
      [
        ['status', 'dimension'],
        ['revenue', 'measure'],
      ],
      'public.orders',
    ),
    cube('customers', [['region', 'dimension']]),
  ],
  tables: [{ schema: 'public', name: 'orders', columns: [{ name: 'amount', nativeType: 'numeric' }] }],
};

/** What is offered where `|` is, by its labels. */
const offered = (text: string) =>
  complete(text.slice(0, text.indexOf('|')).split('\n'), KNOWN)?.offered.map(({ label }) => label) ?? [];

const ORDERS = 'cubes:\n  - name: orders\n    sql_table: public.orders\n';

describe('completion', () => {
  test('keys of the place, and none of others', () => {
    expect(offered('|')).toEqual(['cubes', 'views']);
    expect(offered(`${ORDERS}    di|`)).toEqual(expect.arrayContaining(['dimensions', 'measures', 'joins']));
    const measure = offered(`${ORDERS}    measures:\n      - name: a\n        f|`);
    expect(measure).toEqual(expect.arrayContaining(['type', 'filters', 'rolling_window']));
    expect(measure).not.toContain('measures');
    expect(offered(`${ORDERS}    measures:\n    - name: a\n      f|`)).toContain('rolling_window');
    expect(offered(`${ORDERS}    measures:\n      - |`)).toContain('filters');
  });

  test('words of a key, also in braces of YAML', () => {
    expect(offered(`${ORDERS}    measures:\n      - name: a\n        type: |`)).toContain('count_distinct');
    expect(offered(`${ORDERS}    measures:\n      - { name: a, type: s|`)).toContain('sum');
    expect(offered(`${ORDERS}    measures:\n      - { name: a, f|`)).toContain('filters');
    expect(offered(`${ORDERS}    public: |`)).toEqual(['true', 'false']);
  });

  test('cubes, members, tables and columns', () => {
    expect(offered(`${ORDERS}    joins:\n      - name: |`)).toEqual(['orders', 'customers']);
    expect(offered(`${ORDERS}    dimensions:\n      - name: a\n        sql: "{|`)).toEqual([
      'CUBE',
      'status',
      'revenue',
      'orders',
      'customers',
    ]);
    expect(offered(`${ORDERS}    dimensions:\n      - name: a\n        sql: "{customers.|`)).toEqual([
      'customers.region',
    ]);
    expect(offered('cubes:\n  - name: new\n    sql_table: |')).toEqual(['public.orders']);
    const unknown =
      'cubes:\n  - name: new\n    sql_table: public.orders\n    dimensions:\n      - name: a\n        sql: |';
    expect(offered(unknown)).toEqual(['amount']);
    expect(offered(`${ORDERS}    hierarchies:\n      - name: a\n        levels: [|`)).toEqual(['status']);
    expect(
      offered(
        'views:\n  - name: v\n    cubes:\n      - join_path: orders.customers\n        includes:\n          - |',
      ),
    ).toEqual(['region']);
  });
});

test('the place of a key in a deep file is found by indentation, past comments and blank lines', () => {
  const text = `${ORDERS}\n    access_policy:\n      - group: a\n        row_level:\n          # why\n\n          filters:\n            - member: x\n              ope`;
  expect(placeIn(text.split('\n'))).toMatchObject({
    path: ['cubes', '[]', 'access_policy', '[]', 'row_level', 'filters', '[]'],
    key: undefined,
  });
});

describe('a comparison of two texts', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}`);
  const kinds = (before: string[], after: string[]) =>
    diffRows(before.join('\n'), after.join('\n')).map(({ kind }) => kind);

  test('shows a changed line beside the old one, with three lines around it', () => {
    const after = lines(20);
    after[10] = 'other';
    expect(kinds(lines(20), after)).toEqual([
      'gap',
      'same',
      'same',
      'same',
      'changed',
      'same',
      'same',
      'same',
      'gap',
    ]);
  });

  test('shows what came and what went, and each line once', () => {
    const rows = diffRows('a\nb\nc\nd', 'a\nc\nx\nd\ne');
    expect(rows.map(({ kind, before, after }) => [kind, before?.text, after?.text])).toEqual([
      ['same', 'a', 'a'],
      ['removed', 'b', undefined],
      ['same', 'c', 'c'],
      ['added', undefined, 'x'],
      ['same', 'd', 'd'],
      ['added', undefined, 'e'],
    ]);
    expect(diffRows('', 'a').map(({ kind }) => kind)).toEqual(['added']);
    expect(diffRows('a\n', 'a\n').map(({ kind }) => kind)).toEqual(['gap']);
  });
});

test('access for auditors has a line for each identity and cube, and no cell is a formula', () => {
  const shown = {
    name: '=orders',
    kind: 'cube' as const,
    rows: 'filtered' as const,
    policies: [
      {
        groups: ['a'],
        matchedGroups: ['a'],
        counts: true,
        why: '',
        filter: { and: [{ member: 'region', operator: 'equals', values: ['EU', 'US'] }] },
      },
    ],
    shownCount: 1,
    hiddenCount: 0,
    hiddenMembers: [],
  };
  const access = { cubes: [shown], isComplete: true, viewer: {} } as never;
  expect(accessCsv([{ identity: { name: 'Ada, x', body: {} }, access }]).split('\r\n')[1]).toBe(
    `"Ada, x",cube,'=orders,filtered,a,"region equals EU, US",,1,0,`,
  );
});

test('data sources are read from variables, and a password is never sent back', () => {
  const variables = [
    { name: 'DS_WAREHOUSE_DB_TYPE', value: 'postgres' },
    { name: 'DS_WAREHOUSE_DB_HOST', value: 'db.example.com' },
    { name: 'DS_WAREHOUSE_DB_PASS', value: 'secret' },
    { name: 'OTHER', value: 'x' },
  ];
  const [first, warehouse] = sourcesOf(variables);
  expect(first).toMatchObject({ name: 'default', kind: 'duckdb' });
  expect(warehouse).toEqual({
    name: 'warehouse',
    kind: 'postgres',
    values: { DB_HOST: 'db.example.com' },
    hasPassword: true,
    variables: ['DS_WAREHOUSE_DB_TYPE', 'DS_WAREHOUSE_DB_HOST', 'DS_WAREHOUSE_DB_PASS'],
  });
  // Another kind of source has nothing of the one before; a field that was emptied goes, and the password stays.
  expect(leftOver(warehouse!, variablesFor('warehouse', 'duckdb', {}, ''))).toEqual([
    'DS_WAREHOUSE_DB_HOST',
    'DS_WAREHOUSE_DB_PASS',
  ]);
  expect(leftOver(warehouse!, variablesFor('warehouse', 'postgres', {}, ''))).toEqual([
    'DS_WAREHOUSE_DB_HOST',
  ]);
  expect(JSON.stringify(variablesFor('warehouse', 'postgres', warehouse!.values, ''))).not.toContain('PASS');
});

test('the tree has folders first, by name', () => {
  expect(treeOf(['b.yml', 'a/z.yml', 'a/b/c.yml'])).toMatchObject([
    { name: 'a', children: [{ name: 'b', children: [{ path: 'a/b/c.yml' }] }, { path: 'a/z.yml' }] },
    { path: 'b.yml', children: undefined },
  ]);
});

describe('a merge with conflicts', () => {
  const names = { branch: 'mine', parent: 'main' };
  const write = (base: string, branch: string, parent: string, ...choices: Choice[]) =>
    writeMerged(mergeTexts(base, branch, parent), new Map(choices.entries()), names);
  const file = (text: string) => ({ path: 'a.yml', text });
  const files = (text: string) => new Map([['a.yml', file(text)]]);

  test('changes the place that was chosen, also among lines that are the same', () => {
    const base = 'x\na\nx\nb\nx\n';
    // The branch deletes the second of three same lines, where the parent changes it.
    expect(write(base, 'x\na\nb\nx\n', 'x\na\nX\nb\nx\n', 'parent')).toBe('x\na\nX\nb\nx\n');
    expect(write(base, 'x\na\nb\nx\n', 'x\na\nX\nb\nx\n', 'branch')).toBe('x\na\nb\nx\n');
    expect(write('x\nx\n', 'x\n1\n', 'x\n2', 'both')).toBe('x\n1\n2');
  });

  test('takes what only one side changed, and marks what waits for a choice', () => {
    const merged = write('a\nb\nc\nd\n', 'A\nb\n1\nd\n', 'a\nb\n2\nd\ne\n');
    expect(merged).toBe('A\nb\n<<<<<<< mine\n1\n=======\n2\n>>>>>>> main\nd\ne\n');
    expect(hasMarkers(merged)).toBe(true);
  });

  test('is not decided before each place is, and a long place is kept whole', () => {
    const long = 'y'.repeat(10_000);
    const [found] = findConflicts(files('a\n'), files('b\n'), files(long), []);
    expect(decidedFile(found!, UNDECIDED, names)).toBeUndefined();
    expect(decidedFile(found!, { choices: new Map([[0, 'parent']]) }, names)).toEqual(file(long));
    expect(decidedFile(found!, { ...UNDECIDED, edited: 'c\n' }, names)).toEqual(file('c\n'));
    expect(findConflicts(files('a\n'), files('b\n'), files('a\n'), [])).toEqual([]);
  });

  test('asks for the whole file where one side deleted it', () => {
    const [found] = findConflicts(files('a\n'), files('b\n'), new Map(), ['a.yml']);
    expect(decidedFile(found!, UNDECIDED, names)).toBeUndefined();
    expect(decidedFile(found!, { ...UNDECIDED, whole: 'parent' }, names)).toBe('absent');
    expect(decidedFile(found!, { ...UNDECIDED, whole: 'branch' }, names)).toEqual(file('b\n'));
  });
});
