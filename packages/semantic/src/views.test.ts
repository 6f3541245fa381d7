import { expect, test } from 'vitest';
import { compileText, customers, type ExpectedProblem, expectError, JOIN, orders } from '../test/marked.ts';
import { somebody } from '../test/plans.ts';
import { metaOf } from './index.ts';

const CUBES = orders(JOIN) + customers('    hierarchies: [{ name: ways, levels: [region] }]\n');
const view = (items: string, lines = '') => `${CUBES}views:\n  - name: sales\n    cubes:\n${items}${lines}`;
const item = (text: string) => `      - ${text}\n`;

const membersOf = (text: string) => {
  const { model, errors } = compileText(text);
  expect(errors).toEqual([]);
  const { members, hierarchies } = model!.views.get('sales')!;
  return { members, names: [...members.keys()], hierarchies };
};

test('a star includes every member, also hidden ones, and excludes takes some out', () => {
  const { names, hierarchies } = membersOf(
    view(item('{ join_path: orders, includes: "*", excludes: [paid, open] }')),
  );
  expect(names).toEqual(['id', 'status', 'created_at', 'count', 'total']);
  expect(hierarchies.get('all')).toEqual({ name: 'all', title: undefined, levels: ['status', 'id'] });
});

test('a prefix is the name of the cube, or its alias', () => {
  const { names, members } = membersOf(
    view(
      item('{ join_path: orders, includes: [count] }') +
        item('{ join_path: orders.customers, includes: [region], prefix: true }') +
        item('{ join_path: orders.customers, includes: [region, count], prefix: true, alias: buyer }'),
    ),
  );
  expect(names).toEqual(['count', 'customers_region', 'buyer_region', 'buyer_count']);
  expect(members.get('buyer_region')).toMatchObject({
    kind: 'dimension',
    cube: 'customers',
    member: 'region',
    path: ['orders', 'customers'],
    public: true,
  });
});

test('a member gets another name, title and description in a view', () => {
  const { members } = membersOf(
    view(
      item(
        '{ join_path: orders, includes: [{ name: total, alias: revenue, title: Revenue, description: All of it }] }',
      ),
    ),
  );
  expect(members.get('revenue')).toMatchObject({
    member: 'total',
    title: 'Revenue',
    description: 'All of it',
  });
});

test('levels that the view leaves out are left out of its hierarchies', () => {
  const { hierarchies } = membersOf(view(item('{ join_path: orders, includes: [status, all] }')));
  expect(hierarchies.get('all')?.levels).toEqual(['status']);
});

test.each<[string, string, ExpectedProblem]>([
  [
    'a cube that does not exist',
    item('{ join_path: «order, includes: "*" }'),
    { code: 'unknown_name', hint: 'Did you mean `orders`?' },
  ],
  [
    'a path without a join',
    item('{ join_path: «orders.customers.orders.nothing, includes: "*" }'),
    { code: 'unknown_name' },
  ],
  [
    'a member that does not exist',
    item('{ join_path: orders, includes: [«totl] }'),
    { code: 'unknown_name', hint: 'Did you mean `total`?' },
  ],
  [
    'an excluded member that does not exist',
    item('{ join_path: orders, includes: "*", excludes: [«totl] }'),
    { code: 'unknown_name' },
  ],
  ['no includes', item('«{ join_path: orders }'), { code: 'missing_key' }],
  ['includes that are no list', item('{ join_path: orders, includes: «total }'), { code: 'bad_value' }],
  [
    'two members of one name',
    item('{ join_path: orders, includes: [count] }') +
      item('{ join_path: orders.customers, includes: [«count] }'),
    { code: 'duplicate_name', hint: /prefix/ },
  ],
  [
    'two members of one name by stars',
    item('{ join_path: orders, includes: [count, id] }') +
      item('«{ join_path: orders.customers, includes: "*", excludes: [id] }'),
    { code: 'duplicate_name' },
  ],
  [
    'two hierarchies of one name',
    item('{ join_path: orders, includes: [status, all] }') +
      item('{ join_path: orders.customers, includes: [region, { name: «ways, alias: all }] }'),
    { code: 'duplicate_name' },
  ],
  [
    'a hierarchy and a member of one name',
    item('{ join_path: orders, includes: [status, { name: «all, alias: status }] }'),
    { code: 'duplicate_name' },
  ],
  [
    'a member with the name of a hierarchy before it',
    item('{ join_path: orders, includes: [status, all] }') +
      item('{ join_path: orders.customers, includes: [{ name: «region, alias: all }] }'),
    { code: 'duplicate_name' },
  ],
])('a view is refused for %s', (_, items, expected) => {
  expectError(view(items), expected);
});

test.each<[string, string, ExpectedProblem]>([
  ['members of its own', '    «measures: []\n', { code: 'unsupported', hint: undefined }],
  [
    'the name of a cube',
    '  - name: «orders\n    cubes: [{ join_path: orders, includes: [count] }]\n',
    { code: 'duplicate_name' },
  ],
  ['no cubes', '  - name: a\n    cubes: «[]\n', { code: 'bad_value' }],
])('a view is refused for %s', (_, lines, expected) => {
  expectError(view(item('{ join_path: orders, includes: [count] }'), lines), expected);
});

const star = (joins: [string, string][]) => {
  const names = [...new Set(joins.flat())];
  return `cubes:\n${names
    .map((name) => {
      const own = joins.filter(([from]) => from === name);
      const lines = own.map(
        ([, to]) => `      - { name: ${to}, relationship: many_to_one, sql: "{CUBE}.x = {${to}}.y" }\n`,
      );
      return `  - name: ${name}\n    sql_table: t\n${own.length ? `    joins:\n${lines.join('')}` : ''}`;
    })
    .join('')}`;
};

test('two join paths of the same length are a warning, once for each pair that is ambiguous by itself', () => {
  const { errors, warnings, model } = compileText(
    star([
      ['a', 'b'],
      ['a', 'c'],
      ['b', 'd'],
      ['c', 'd'],
      ['d', 'e'],
    ]),
  );
  expect(errors).toEqual([]);
  expect(model).toBeDefined();
  const ambiguous = warnings.filter(({ code }) => code === 'ambiguous_join');
  const pairs = ambiguous.map(({ message }) =>
    message
      .match(/`(\w+)` and `(\w+)`/)!
      .slice(1)
      .join(),
  );
  expect(pairs.sort()).toEqual(['a,d', 'b,c']);
  expect(ambiguous[0]).toMatchObject({ hint: /join_path/ });
});

test('one shortest path is no ambiguity', () => {
  expect(
    compileText(
      star([
        ['a', 'b'],
        ['b', 'c'],
        ['a', 'c'],
      ]),
    ).warnings,
  ).not.toContainEqual(expect.objectContaining({ code: 'ambiguous_join' }));
});

test('a join leads in both directions, with the relationship turned around', () => {
  const { model } = compileText(CUBES);
  expect(model!.cubes.get('orders')!.joins.get('customers')).toMatchObject({
    to: 'customers',
    relationship: 'many_to_one',
  });
  const back = model!.cubes.get('customers')!.joins.get('orders')!;
  expect(back).toMatchObject({ to: 'orders', relationship: 'one_to_many' });
  expect(back.sql).toEqual(model!.cubes.get('orders')!.joins.get('customers')!.sql);
});

test('folders of a view show members together, without what is hidden', () => {
  const cubes = item(
    '{ join_path: orders, includes: [count, total, status, { name: paid, public: false }] }',
  );
  const folders = `    folders:
      - { name: Money & more, includes: [total, { name: Inside, includes: [paid, status] }, paid] }
      - { name: Hidden, includes: [paid] }
`;
  const { model, errors } = compileText(view(cubes, folders));
  expect(errors).toEqual([]);
  const { folders: flat, nestedFolders } = metaOf(model!, somebody).find(({ name }) => name === 'sales')!;
  expect(flat).toEqual([{ name: 'Money & more', members: ['sales.total', 'sales.status'] }]);
  const inside = { name: 'Inside', members: ['sales.status'] };
  expect(nestedFolders).toEqual([{ name: 'Money & more', members: ['sales.total', inside] }]);
  const wrong = compileText(view(cubes, '    folders: [{ name: Money, includes: [totl] }]\n')).errors;
  expect(wrong).toMatchObject([{ code: 'unknown_name', hint: 'Did you mean `total`?' }]);
});
