import { expect, test } from 'vitest';
import { compileText, customers, JOIN, orders } from '../test/marked.ts';
import { affectedMembers, changedValues, compareModels, type Model } from './index.ts';

const compiled = (text: string): Model => {
  const { model, errors } = compileText(text);
  expect(errors).toEqual([]);
  return model!;
};

const SALES = `views:
  - name: sales
    cubes:
      - { join_path: orders, includes: [status, total, double] }
`;
const shop = (measures: string, rest = '') =>
  orders(JOIN).replace('      - { name: total, sql: amount, type: sum }\n', measures) +
  customers() +
  SALES +
  rest;

const BEFORE = shop(`      - { name: total, sql: amount, type: sum }
      - { name: double, sql: "2 * {total}", type: number }
      - { name: gone, type: count }
`);

test('a change is told by meaning: what came, what went, and which keys changed', () => {
  const after = shop(`      - { name: total, sql: amount, type: sum, filters: [{ sql: "{CUBE}.paid" }] }
      - { name: double, sql: "2 * {total}", type: number, title: Twice }
      - { name: fresh, type: count }
`);
  const changes = compareModels(compiled(BEFORE), compiled(after));
  expect(changes).toEqual([
    { cube: 'orders', member: 'total', what: 'measure', change: 'changed', keys: ['filters'] },
    { cube: 'orders', member: 'double', what: 'measure', change: 'changed', keys: ['title'] },
    { cube: 'orders', member: 'fresh', what: 'measure', change: 'added', keys: [] },
    { cube: 'orders', member: 'gone', what: 'measure', change: 'removed', keys: [] },
    // The view shows the title of its cube.
    { cube: 'sales', member: 'double', what: 'measure', change: 'changed', keys: ['title'] },
  ]);
  expect(changedValues(compiled(BEFORE), compiled(after), changes[0]!)).toEqual([
    { key: 'filters', from: '', to: '{orders}.paid' },
  ]);
  expect(changedValues(compiled(BEFORE), compiled(after), changes[4]!)).toMatchObject([
    { key: 'title', to: 'Twice' },
  ]);
  expect(compareModels(compiled(BEFORE), compiled(BEFORE))).toEqual([]);
});

test('what refers to a changed member, and what views show of it, is affected; a new title affects nothing', () => {
  const filtered = BEFORE.replace('sql: amount, type: sum', 'sql: amount, type: max');
  const model = compiled(filtered);
  const affected = affectedMembers(compareModels(compiled(BEFORE), model), model);
  expect([...affected.keys()].sort()).toEqual([
    'orders.double',
    'orders.total',
    'sales.double',
    'sales.total',
  ]);
  const titled = compiled(BEFORE.replace('sql: amount, type: sum', 'sql: amount, type: sum, title: Total'));
  expect(affectedMembers(compareModels(compiled(BEFORE), titled), titled).size).toBe(0);
});

test('a cube that reads another table affects all of its members, and what joins it only if it names them', () => {
  const moved = compiled(BEFORE.replace('sql_table: customers', 'sql_table: people'));
  const changes = compareModels(compiled(BEFORE), moved);
  expect(changes).toMatchObject([{ cube: 'customers', member: undefined, keys: ['sql_table'] }]);
  expect([...affectedMembers(changes, moved).keys()]).toEqual([
    'customers.id',
    'customers.region',
    'customers.count',
  ]);
});

test('a member that goes from a cube whose policies open all members changes no policy, and one that is closed does', () => {
  const guarded = (policy: string) =>
    BEFORE.replace('    joins:\n', `    access_policy:\n${policy}    joins:\n`);
  const all = guarded('      - group: "*"\n');
  const less = all.replace('      - { name: gone, type: count }\n', '');
  expect(compareModels(compiled(all), compiled(less))).toMatchObject([{ member: 'gone', change: 'removed' }]);
  const closed = guarded('      - group: "*"\n        member_level: { excludes: [total] }\n');
  expect(compareModels(compiled(all), compiled(closed))).toMatchObject([
    { cube: 'orders', member: undefined, keys: ['access_policy'] },
  ]);
});
