/** Warnings about rows that are open, and hints that tell nothing about what is hidden. */
import { expect, test } from 'vitest';
import { compileText, customers, JOIN, orders } from '../test/marked.ts';
import { errorOf, modelOf, somebody } from '../test/plans.ts';
import { sqlErrorOf, sqlPlanOf } from '../test/sql.ts';

const POLICY = '    access_policy: [{ group: sales }]\n';

test('a cube without a policy beside one that has policies is a warning', () => {
  const { warnings } = compileText(orders(JOIN) + customers(POLICY));
  expect(warnings).toMatchObject([
    {
      code: 'no_access_policy',
      line: 2,
      message:
        '`orders` has no `access_policy`: people who may query the deployment see all its rows as long as the query does not join `customers`, and embed viewers see nothing of it.',
      hint: expect.stringContaining('allow_all: true'),
    },
  ]);
  // The join leads in both directions.
  expect(compileText(orders(JOIN + POLICY) + customers()).warnings).toMatchObject([
    { code: 'no_access_policy', message: expect.stringContaining('`customers` has no') },
  ]);
});

test('a model without any policy is one warning, because embed viewers see nothing of it', () => {
  expect(compileText(orders(JOIN) + customers()).warnings).toMatchObject([
    {
      code: 'no_access_policy',
      line: 2,
      message: 'No cube or view has an `access_policy`: embed viewers see nothing.',
    },
  ]);
  const view = (policy: string) =>
    `views:\n  - name: all\n    cubes: [{ join_path: orders, includes: "*" }]\n${policy}`;
  expect(compileText(orders() + view('')).warnings).toHaveLength(1);
  expect(compileText(orders() + view(POLICY)).warnings).toEqual([]);
  expect(compileText('cubes: []\n').warnings).toEqual([]);
});

test('cubes that all have policies are no warning', () => {
  expect(compileText(orders(JOIN + POLICY) + customers(POLICY)).warnings).toEqual([]);
});

const model = modelOf(`cubes:
  - name: orders
    sql_table: t
    dimensions:
      - { name: status, sql: x, type: string }
      - { name: secret, sql: x, type: string, public: false }
      - { name: margin, sql: x, type: string }
    access_policy:
      - { group: sales, member_level: { excludes: [margin] } }
      - { group: finance }
`);
const viewer = (group: string) => ({ ...somebody, groups: [group] });
const told = (member: string, group: string) =>
  errorOf(model, { dimensions: [member] }, viewer(group)).message.split('use. ')[1];

test('a query that misspells a member is told which one it probably means', () => {
  expect(told('orders.stauts', 'sales')).toBe('Did you mean `orders.status`?');
  expect(told('order.status', 'sales')).toBe('Did you mean `orders.status`?');
  expect(told('orders.nothing_like_it', 'sales')).toBeUndefined();
});

test('no hint names a member that the viewer cannot use', () => {
  expect(told('orders.margn', 'finance')).toBe('Did you mean `orders.margin`?');
  expect(told('orders.margn', 'sales')).toBeUndefined();
  expect(told('orders.margin', 'sales')).toBeUndefined();
  expect(told('order.margin', 'sales')).toBeUndefined();
  expect(told('orders.secre', 'finance')).toBeUndefined();
});

test('what a policy shuts the viewer out of is not named in SQL either', () => {
  const guarded = modelOf(`cubes:
  - name: orders
    sql_table: shop_orders
    joins: [{ name: vault, relationship: many_to_one, sql: "{CUBE}.customer_id = {vault.id}" }]
    dimensions: [{ name: status, sql: status, type: string }]
    access_policy: [{ group: "*" }]
  - name: vault
    sql_table: shop_customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: code, sql: name, type: string }
    measures: [{ name: total, type: count }]
    access_policy: [{ group: admins }]
views:
  - name: everything
    cubes: [{ join_path: orders, includes: "*" }, { join_path: orders.vault, includes: "*" }]
`);
  const admin = viewer('admins');
  for (const [text, hint] of [
    ['select cod from vault', 'Did you mean `code`?'],
    ['select measure(totl) from vault', 'Did you mean `total`?'],
    ['select 1 from vaul', 'Did you mean `vault`?'],
    ['select cod from everything', 'Did you mean `code`?'],
  ] as const) {
    expect(sqlErrorOf(guarded, text, admin).message).toContain(hint);
    expect(sqlErrorOf(guarded, text, somebody).message).not.toContain('Did you mean');
  }
  expect(sqlPlanOf(guarded, 'select * from vault', admin).columns).toEqual(['id', 'code']);
  for (const text of ['select * from vault', 'select v.* from orders, vault v'])
    expect(sqlErrorOf(guarded, text, somebody).message).toContain('stands for no columns here');
  expect(sqlPlanOf(guarded, 'select * from everything', admin).columns).toEqual(['status', 'id', 'code']);
  expect(sqlPlanOf(guarded, 'select * from everything', somebody).columns).toEqual(['status']);
  // As in JSON queries, a viewer who knows the name can write it, and gets no rows.
  expect(sqlPlanOf(guarded, 'select code from vault', somebody).statement.sql).toContain('where false');
});
