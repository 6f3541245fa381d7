import { expect, test } from 'vitest';
import { compileModel, type DraftTable, draftCubes, proposeKeys } from '../index.ts';

type Type = DraftTable['columns'][number]['type'];

const table = (name: string, columns: Record<string, Type>, more: Partial<DraftTable> = {}): DraftTable => ({
  schema: 'public',
  name,
  columns: Object.entries(columns).map(([column, type]) => ({ name: column, type })),
  primaryKey: [],
  foreignKeys: [],
  ...more,
});

const reference = (column: string, toTable: string, toColumn = 'id') => ({
  columns: [column],
  toSchema: 'public',
  toTable,
  toColumns: [toColumn],
});

/** Every draft must build. */
function compiled(tables: readonly DraftTable[]) {
  const drafts = draftCubes(tables);
  const { model, errors, warnings } = compileModel(new Map(drafts.map(({ path, text }) => [path, text])));
  expect(errors).toEqual([]);
  // A draft opens nothing to embed viewers, and a warning says so.
  expect(warnings.map(({ code }) => code)).toEqual(model!.cubes.size ? ['no_access_policy'] : []);
  return { drafts, cubes: model!.cubes };
}

test('a table becomes a cube with its key, its joins, a count, and sums of what is no id', () => {
  const { drafts } = compiled([
    table(
      'orders',
      { id: 'number', customer_id: 'number', status: 'string', amount: 'number', at: 'time', raw: 'other' },
      { primaryKey: ['id'], foreignKeys: [reference('customer_id', 'customers')] },
    ),
    table('customers', { id: 'number', is_new: 'boolean' }, { primaryKey: ['id'] }),
  ]);
  expect(drafts[0]).toMatchObject({ cube: 'orders', path: 'model/cubes/orders.yml' });
  expect(drafts[0]!.text).toBe(`cubes:
  - name: orders
    sql_table: public.orders
    joins:
      - name: customers
        relationship: many_to_one
        sql: "{CUBE}.customer_id = {customers}.id"
    dimensions:
      - name: id
        sql: id
        type: number
        primary_key: true
      - name: customer_id
        sql: customer_id
        type: number
      - name: status
        sql: status
        type: string
      - name: amount
        sql: amount
        type: number
      - name: at
        sql: at
        type: time
    measures:
      - name: count
        type: count
      - name: total_amount
        sql: amount
        type: sum
      - name: average_amount
        sql: amount
        type: avg
`);
});

test('without declared keys, the names tell keys and joins', () => {
  const { cubes } = compiled([
    table('orders', { order_id: 'number', customer_id: 'number', category_id: 'string', total: 'number' }),
    table('Customers', { ID: 'number', name: 'string' }),
    table('categories', { id: 'number' }),
    table('events', { customer_id: 'number' }),
  ]);
  expect(cubes.get('orders')!.primaryKey).toEqual(['order_id']);
  // The key of a category is a number, and events have no key.
  expect([...cubes.get('orders')!.joins.keys()]).toEqual(['customers']);
  expect([...cubes.get('events')!.joins.keys()]).toEqual([]);
});

test('two ways between two tables are one join, and no table is joined to itself', () => {
  const { cubes } = compiled([
    table(
      'orders',
      { id: 'number', billed_to: 'number', shipped_to: 'number', parent_id: 'number' },
      {
        primaryKey: ['id'],
        foreignKeys: [
          reference('billed_to', 'addresses'),
          reference('shipped_to', 'addresses'),
          reference('parent_id', 'orders'),
        ],
      },
    ),
    table(
      'addresses',
      { id: 'number', last_order: 'number' },
      {
        primaryKey: ['id'],
        foreignKeys: [reference('last_order', 'orders')],
      },
    ),
  ]);
  expect([...cubes.get('orders')!.joins.keys()]).toEqual(['addresses']);
});

test('a key that is also a reference is one to one, and a join that leads out of the tables is left out', () => {
  const { drafts } = compiled([
    table('users', { id: 'number' }, { primaryKey: ['id'] }),
    table(
      'profiles',
      { user_id: 'number', plan_id: 'number' },
      {
        primaryKey: ['user_id'],
        foreignKeys: [reference('user_id', 'users'), reference('plan_id', 'plans')],
      },
    ),
  ]);
  expect(drafts[1]!.text).toContain('relationship: one_to_one');
  expect(drafts[1]!.text).not.toContain('plans');
});

test('any names of tables and columns make a model that builds', () => {
  const odd = [
    'Order',
    'user',
    '1st',
    'ümlaut',
    'a b',
    '{x}',
    'x"y',
    '',
    '_',
    'Count',
    'count',
    'total_n',
    'n',
  ];
  const { drafts, cubes } = compiled([
    table('Order Lines', Object.fromEntries(odd.filter(Boolean).map((name) => [name, 'number' as const]))),
    table('select', { id: 'number' }),
    table('select', { id: 'number' }, { schema: 'other' }),
    table('back\\slash', { id: 'number' }),
    table('empty', {}),
  ]);
  expect([...cubes.keys()]).toEqual(['order_lines', 'other_select', 'public_select']);
  expect(cubes.get('public_select')!.from).toEqual({ table: 'public."select"' });
  expect(drafts[0]!.text).toContain('{CUBE}."x""y"');
  const names = [
    ...cubes.get('order_lines')!.dimensions.keys(),
    ...cubes.get('order_lines')!.measures.keys(),
  ];
  expect(new Set(names).size).toBe(names.length);
});

test('the cubes of another source name it', () => {
  const [draft] = draftCubes([table('t', { id: 'number' })], { dataSource: 'eu_west' });
  expect(draft!.text).toContain('data_source: eu_west');
});

test('keys and joins that are proposed can be changed, and then nothing is guessed beside them', () => {
  const tables = [
    table('orders', { order_id: 'number', line: 'number', customer_id: 'number' }),
    table('customers', { id: 'number' }),
  ];
  const [orders, customers] = proposeKeys(tables);
  expect(orders).toMatchObject({
    primaryKey: ['order_id'],
    foreignKeys: [reference('customer_id', 'customers')],
  });
  expect(compiled([orders!, customers!]).drafts.map(({ text }) => text)).toEqual(
    draftCubes(tables).map(({ text }) => text),
  );
  const changed = compiled([{ ...orders!, primaryKey: ['order_id', 'line'] }, customers!]).cubes;
  expect(changed.get('orders')!.primaryKey).toEqual(['order_id', 'line']);
  expect([...changed.get('orders')!.joins.keys()]).toEqual(['customers']);
  const without = compiled([{ ...orders!, foreignKeys: [] }, customers!]).cubes;
  expect([...without.get('orders')!.joins.keys()]).toEqual([]);
});
