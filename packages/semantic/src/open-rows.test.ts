/** Warnings about rows that are open, and hints that tell nothing about what is hidden. */
import { expect, test } from 'vitest';
import { compileText, customers, JOIN, orders } from '../test/marked.ts';
import { errorOf, modelOf, somebody } from '../test/plans.ts';

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

test('cubes that all have policies, or none, are no warning', () => {
  expect(compileText(orders(JOIN) + customers()).warnings).toEqual([]);
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

test('no hint names a member that the viewer can not use', () => {
  expect(told('orders.margn', 'finance')).toBe('Did you mean `orders.margin`?');
  expect(told('orders.margn', 'sales')).toBeUndefined();
  expect(told('orders.margin', 'sales')).toBeUndefined();
  expect(told('order.margin', 'sales')).toBeUndefined();
  expect(told('orders.secre', 'finance')).toBeUndefined();
});
