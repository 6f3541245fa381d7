/** Measures in SQL mean what they mean in JSON queries. */
import { expect, test } from 'vitest';
import type { Cell } from '../../test/engines.ts';
import { modelOf, somebody } from '../../test/plans.ts';
import { analyst, emea, ORDERS, shop, shopEngines } from '../../test/shop.ts';
import { sqlErrorOf, sqlPlanOf } from '../../test/sql.ts';
import { planQuery } from '../index.ts';

const { engines } = shopEngines();

/** Measures in SQL, and the JSON query that means the same. */
const MEASURES: [string, object][] = [
  ['select measure(count) from orders', { measures: ['orders.count'] }],
  [
    'select status, measure(count), measure(amount), measure(o.average) from orders o group by 1 order by 1',
    { dimensions: ['orders.status'], measures: ['orders.count', 'orders.amount', 'orders.average'] },
  ],
  [
    'select status, measure(done), measure(done_share), measure(buyers), measure(latest) from orders group by status order by status',
    {
      dimensions: ['orders.status'],
      measures: ['orders.done', 'orders.done_share', 'orders.buyers', 'orders.latest'],
    },
  ],
  [
    'select region, measure(amount) from sales group by region order by region',
    { dimensions: ['sales.region'], measures: ['sales.amount'] },
  ],
  [
    "select measure(amount) from sales where name <> 'Bob' having measure(count) > 1",
    {
      measures: ['sales.amount'],
      filters: [{ member: 'sales.name', operator: 'notEquals', values: ['Bob'] }],
    },
  ],
  [
    'select product, measure(amount), measure(average), measure(count) from sales group by 1',
    { dimensions: ['sales.product'], measures: ['sales.amount', 'sales.average', 'sales.count'] },
  ],
  [
    'select region, measure(count), measure(people), measure(lines), measure(weight) from sales group by 1',
    {
      dimensions: ['sales.region'],
      measures: ['sales.count', 'sales.people', 'sales.lines', 'sales.weight'],
    },
  ],
  [
    'select measure(people), measure(weight), measure(amount) from sales',
    { measures: ['sales.people', 'sales.weight', 'sales.amount'] },
  ],
  [
    "select status as s, measure(people) as p, measure(weight) from sales where product = 'pen' group by s order by measure(people), p",
    {
      dimensions: ['sales.status'],
      measures: ['sales.people', 'sales.weight'],
      filters: [{ member: 'sales.product', operator: 'equals', values: ['pen'] }],
    },
  ],
  [
    'select status, measure(own) from orders group by 1',
    { dimensions: ['orders.status'], measures: ['orders.own'] },
  ],
  [
    'select status, measure(own_share) from orders group by 1',
    { dimensions: ['orders.status'], measures: ['orders.own_share'] },
  ],
  [
    'select status, measure(longest_name) from orders group by 1',
    { dimensions: ['orders.status'], measures: ['orders.longest_name'] },
  ],
  [
    'select status, measure(item_ids) from orders group by 1',
    { dimensions: ['orders.status'], measures: ['orders.item_ids'] },
  ],
  [
    'select status, measure(own_ids) from orders group by 1',
    { dimensions: ['orders.status'], measures: ['orders.own_ids'] },
  ],
  [
    'select status, measure(item_ids), measure(amount) from orders group by 1',
    { dimensions: ['orders.status'], measures: ['orders.item_ids', 'orders.amount'] },
  ],
  [
    'select measure(amount), measure(big_amount) from orders',
    { measures: ['orders.amount', 'orders.big_amount'] },
  ],
  [
    'select region, measure(per_customer) from sales group by 1',
    { dimensions: ['sales.region'], measures: ['sales.per_customer'] },
  ],
  ['select measure(count) from orders where big', { measures: ['orders.count'], segments: ['orders.big'] }],
];

test.each(MEASURES)('%s means what a JSON query means', async (text, query) => {
  for (const viewer of [analyst, emea, somebody]) {
    for (const engine of engines) {
      const { plans } = planQuery(shop, { order: [], ...query }, viewer, {
        dialect: engine.dialect,
        now: new Date(),
      });
      const sorted = (rows: Cell[][]) => rows.map((row) => JSON.stringify(row)).sort();
      const expected = sorted(await engine.rows(plans[0]!.statement));
      const { statement } = sqlPlanOf(shop, text, viewer, engine.dialect);
      const isEmpty = text.includes('having') && viewer === somebody;
      expect(sorted(await engine.rows(statement)), statement.sql).toEqual(isEmpty ? [] : expected);
    }
  }
});

const WRONG_MEASURES: [string, string][] = [
  ['select count from orders', '`count` is a measure. Write `measure(count)`.'],
  ['select orders.count from orders', '`count` is a measure. Write `measure(count)`.'],
  ['select measure(o.amount) from orders o, customers c', 'one cube or view, without joins'],
  ['select measure(o.amount) from orders o join customers c on true', 'one cube or view, without joins'],
  ['select measure(amount) from (select * from orders) x', 'one cube or view'],
  ['with o as (select * from orders) select measure(amount) from o', 'one cube or view'],
  ['select product, measure(own) from sales group by 1', 'repeats the rows'],
  ['select measure(own_count) from sales', 'repeats the rows'],
  ['select measure(customers.count) from orders', 'There is no measure `customers.count`'],
  ['select measure(orders.x.count) from orders', 'There is no measure `orders.x.count`'],
  ['select measure(own), measure(people) from sales', 'has measures of other cubes'],
  ['select measure(whole) from orders', 'SQL cannot use it'],
  ['select measure(own_of_own) from orders', 'SQL cannot use it'],
  ['select measure(own_of_others) from orders', 'SQL cannot use it'],
  ['select measure("window") from orders', 'SQL cannot use it'],
  ['select measure(status) from orders', 'There is no measure `status`'],
  ['select measure(1) from orders', '`measure` takes the name of a measure.'],
  ['select measure(distinct count) from orders', 'cannot be used like this'],
  ['select measure(count) over () from orders', 'cannot be used like this'],
];
test.each(WRONG_MEASURES)('%s is refused, because measures are of one table', (text, message) => {
  expect(sqlErrorOf(shop, text, analyst).message).toContain(message);
});

test('what nothing repeats is read without numbers for its rows, and a measure once', () => {
  const sqlOf = (text: string) => sqlPlanOf(shop, text).statement.sql;
  expect(sqlOf('select product, measure(amount) from sales group by 1')).toContain('row_number');
  for (const text of [
    'select product from sales',
    'select measure(amount) from orders',
    'select measure(count), measure(lines) from sales',
  ])
    expect(sqlOf(text)).not.toContain('row_number');
  expect(sqlOf('select measure(amount) from orders')).not.toContain('.*');
  expect(sqlOf('select measure(amount), measure(amount) from orders')).not.toContain('m2');
  expect(sqlErrorOf(shop, 'select measure(regon) from sales').message).not.toContain('`region`');
});

test('a policy counts only if it opens the measures that a statement names', () => {
  const guarded = modelOf(`${ORDERS}      - { name: amount, sql: amount, type: sum }
    access_policy:
      - { group: "*", member_level: { excludes: [amount] } }
      - { group: "*", row_level: { filters: [{ member: status, operator: equals, values: [done] }] } }
`);
  const valuesOf = (text: string) => sqlPlanOf(guarded, text).statement.parameters;
  expect(valuesOf('select measure(count) from orders')).toEqual([]);
  expect(valuesOf('select measure(amount) from orders')).toEqual(['done']);
});
