/** Sub-queries that need themselves are refused, and others keep the policies of all their cubes. */
import { expect, test } from 'vitest';
import { expectError } from '../../test/marked.ts';
import { modelOf, planOf, somebody } from '../../test/plans.ts';

const policy = (member: string) =>
  `    access_policy:\n      - { group: "*", row_level: { filters: [{ member: ${member}, operator: gt, values: [0] }] } }\n`;

interface Parts {
  customerDimensions?: string;
  customerPolicy?: string;
  orderDimensions?: string;
  orderPolicy?: string;
  count?: string;
  join?: string;
  key?: string;
}
const text = ({
  customerDimensions = '      - { name: «spent, sql: "{orders.total}", type: number, sub_query: true }\n',
  customerPolicy = '',
  orderDimensions = '',
  orderPolicy = '',
  count = 'total, type: sum, sql: "{CUBE}.amount"',
  join = '{CUBE}.customer_id = {customers.id}',
  key = 'id',
}: Parts) => `cubes:
  - name: customers
    sql_table: customers
    dimensions:
      - { name: id, sql: "${key}", type: number, primary_key: true }
      - { name: level, sql: level, type: number }
${customerDimensions}    measures:
      - { name: count, type: count }
${customerPolicy}
  - name: orders
    sql_table: orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "${join}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: amount, sql: amount, type: number }
${orderDimensions}    measures:
      - { name: ${count} }
${orderPolicy}`;

test.each<[string, Parts]>([
  [
    'its own value, through the measure',
    { count: 'total, type: sum, sql: "{CUBE}.amount * {customers.spent}"' },
  ],
  [
    'its own value, through a filter of the measure',
    { count: 'total, type: count, filters: [{ sql: "{customers.spent} > 1" }]' },
  ],
  ['a policy of its own cube that compares it', { customerPolicy: policy('spent') }],
  [
    'a policy of the other cube that compares it',
    {
      orderDimensions: '      - { name: of_customer, sql: "{customers.spent}", type: number }\n',
      orderPolicy: policy('of_customer'),
    },
  ],
  ['a join that compares it', { join: '{CUBE}.customer_id = {customers.id} and {customers.spent} > 0' }],
  ['a primary key that is made of it', { key: '{spent}' }],
])('a sub-query cannot need %s', (_, parts) => {
  expectError(text(parts), { code: 'reference_cycle', message: /customers\.spent/ });
});

test('a sub-query cannot need another one whose policy needs it', () => {
  const twice = `      - { name: «spent, sql: "{orders.total}", type: number, sub_query: true }\n      - { name: more, sql: "{spent} + 1", type: number }\n`;
  expectError(text({ customerDimensions: twice, customerPolicy: policy('more') }), {
    code: 'reference_cycle',
    message: /policies of customers/,
    hint: /second cube/,
  });
});

test('policies of both cubes apply within a sub-query', () => {
  const model = modelOf(
    text({ customerPolicy: policy('level'), orderPolicy: policy('amount') }).replace('«', ''),
  );
  const { sql } = planOf(model, { dimensions: ['customers.spent'] }, somebody, 'postgres').statement;
  expect(sql.match(/"orders"\.amount > \$1/g)).toHaveLength(1);
  expect(sql.match(/"customers"\.level > \$1/g)).toHaveLength(2);
});

test('a policy that compares a sub-query of another cube is no circle', () => {
  const model = modelOf(
    text({
      customerPolicy: policy('level'),
      orderDimensions: '      - { name: of_level, sql: "{customers.level}", type: number }\n',
      orderPolicy: policy('of_level'),
    }).replace('«', ''),
  );
  expect(planOf(model, { dimensions: ['customers.spent'] }).statement.sql).toContain('level > $1');
});
