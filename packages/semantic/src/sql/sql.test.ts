/** SQL that reads cubes and views as tables: what it means, on every engine. */
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type Cell, type Engine, openDuckDb, openPostgres } from '../../test/engines.ts';
import { modelOf, somebody } from '../../test/plans.ts';
import { sqlErrorOf, sqlPlanOf } from '../../test/sql.ts';
import { planQuery, type Viewer } from '../index.ts';

const model = modelOf(`cubes:
  - name: customers
    sql_table: shop_customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: name, sql: name, type: string }
      - { name: region, sql: region, type: string }
      - { name: secret, sql: name, type: string, public: false }
    measures:
      - { name: count, type: count }
    access_policy:
      - group: all
        row_level: { allow_all: true }
      - group: "*"
        row_level: { filters: [{ member: region, operator: equals, values: ["{ userAttributes.region }"] }] }
  - name: orders
    sql_table: shop_orders
    joins:
      - { name: customers, relationship: many_to_one, sql: "{CUBE}.customer_id = {customers.id}" }
      - { name: items, relationship: one_to_many, sql: "{CUBE.id} = {items}.order_id" }
      - { name: details, relationship: one_to_one, sql: "{CUBE.id} = {details.id}" }
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: customer_id, sql: customer_id, type: number }
      - { name: status, sql: status, type: string }
      - { name: ordered_at, sql: ordered_at, type: time }
    measures:
      - { name: count, type: count }
      - { name: amount, sql: amount, type: sum }
      - { name: average, sql: amount, type: avg }
      - { name: done, type: count, filters: [{ sql: "{CUBE}.status = 'done'" }] }
      - { name: done_share, sql: "{done} / {count}", type: number }
      - { name: buyers, sql: customer_id, type: count_distinct }
      - { name: latest, sql: "{ordered_at}", type: max }
      - { name: own, sql: "sum({CUBE}.amount) / 2", type: number }
      - { name: own_ids, sql: "sum({id}) * 2", type: number }
      - { name: big_amount, sql: "{amount}", type: number, filters: [{ sql: "{CUBE}.amount > 6" }] }
      - { name: own_share, sql: "sum({CUBE}.amount) / {count}", type: number }
      - { name: own_of_own, sql: "sum({CUBE}.amount) / {own}", type: number }
      - { name: own_of_others, sql: "sum({CUBE}.amount) / {customers.count}", type: number }
      - { name: longest_name, sql: "max(length({customers}.name)) + count(*)", type: number }
      - { name: item_ids, sql: "sum({items}.id) * 2", type: number }
      - { name: per_customer, sql: "{amount} / {customers.count}", type: number }
      - { name: whole, sql: "max({CUBE}::text)", type: number }
      - { name: window, sql: amount, type: sum, rolling_window: { trailing: 7 day } }
    segments:
      - { name: big, sql: "{CUBE}.amount > 6" }
  - name: items
    sql_table: shop_items
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: product, sql: product, type: string }
    measures:
      - { name: count, type: count }
      - { name: weight, sql: "{CUBE}.id * 10", type: sum }
  - name: details
    sql_table: shop_items
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
    measures:
      - { name: own_count, sql: "count({CUBE}.id) + 0", type: number }
  - name: hidden
    sql_table: shop_orders
    public: false
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
  - name: elsewhere
    sql_table: others
    data_source: other
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
views:
  - name: ordering
    cubes: [{ join_path: orders.customers, includes: [name, region] }]
  - name: products
    cubes:
      - { join_path: orders.items, includes: [product] }
      - { join_path: orders, includes: [status] }
  - name: sales
    cubes:
      - { join_path: orders, includes: "*" }
      - { join_path: orders.customers, includes: [name, region, { name: count, alias: people }] }
      - { join_path: orders.items, includes: [product, weight, { name: count, alias: lines }] }
      - { join_path: orders.details, includes: [own_count] }
`);

const TABLES = [
  'create table shop_customers (id bigint, name text, region text)',
  "insert into shop_customers values (1, 'Ada', 'EMEA'), (2, 'Bob', 'AMER'), (3, '7', 'EMEA')",
  'create table shop_orders (id bigint, customer_id bigint, status text, amount decimal(10, 2), ordered_at timestamp)',
  `insert into shop_orders values (1, 1, 'new', 10.5, '2024-01-10 08:00:00'), (2, 1, 'done', 20, '2024-01-31 23:30:00'),
    (3, 2, 'done', 5.25, '2024-02-01 00:30:00'), (4, 3, 'done', 7, '2024-02-15 12:00:00'), (5, 3, null, 1, '2024-03-01 12:00:00')`,
  'create table shop_items (id bigint, order_id bigint, product text)',
  "insert into shop_items values (1, 1, 'pen'), (2, 1, 'ink'), (3, 2, 'pen'), (4, null, 'cap')",
];

let engines: Engine[] = [];
beforeAll(async () => {
  engines = [await openDuckDb(), await openPostgres(inject('postgresUrl'))];
  for (const engine of engines) for (const statement of TABLES) await engine.run(statement);
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

const analyst: Viewer = { ...somebody, groups: ['all'] };
const emea: Viewer = { ...somebody, userAttributes: { region: 'EMEA' } };

/** The rows, which are the same on all engines. */
async function rowsOf(text: string, viewer: Viewer = analyst): Promise<Cell[][]> {
  const answers: Cell[][][] = [];
  for (const engine of engines) {
    const { statement } = sqlPlanOf(model, text, viewer, engine.dialect);
    answers.push(
      await engine.rows(statement).catch((error) => {
        throw new Error(`${engine.dialect}: ${error.message}\n${statement.sql}`);
      }),
    );
  }
  expect(answers[1], text).toEqual(answers[0]);
  return answers[0]!;
}

const MEANINGS: [string, Cell[][]][] = [
  [
    'select id, status from orders where id < 3 order by id',
    [
      ['1', 'new'],
      ['2', 'done'],
    ],
  ],
  ['select * from customers order by 1 limit 1', [['1', 'Ada', 'EMEA']]],
  ["select c.* from customers as c where c.name = 'Bob'", [['2', 'Bob', 'AMER']]],
  ['select count(*) from orders', [['5']]],
  [
    'select status, count(*) as n from orders group by status order by n desc, status',
    [
      ['done', '3'],
      ['new', '1'],
      [null, '1'],
    ],
  ],
  ['select upper(status) as status, count(*) from orders group by 1 having count(*) > 1', [['DONE', '3']]],
  [
    'select status as state, count(*) from orders group by state order by state nulls first',
    [
      [null, '1'],
      ['done', '3'],
      ['new', '1'],
    ],
  ],
  ['select distinct region from customers order by region desc', [['EMEA'], ['AMER']]],
  [
    'select id, count(*) over (order by id rows between current row and unbounded following) from customers order by 1',
    [
      ['1', '3'],
      ['2', '2'],
      ['3', '1'],
    ],
  ],
  [
    "select o.id, c.name from orders o join customers c on c.id = o.customer_id where c.region = 'EMEA' order by o.id",
    [
      ['1', 'Ada'],
      ['2', 'Ada'],
      ['4', '7'],
      ['5', '7'],
    ],
  ],
  [
    "select c.name, o.id from customers c left join orders o on o.customer_id = c.id and o.status = 'new' order by 1, 2",
    [
      ['7', null],
      ['Ada', '1'],
      ['Bob', null],
    ],
  ],
  [
    'with big as (select customer_id as c, count(*) as n from orders group by 1), named as (select c.name, b.n from big b, customers c where c.id = b.c) select * from named order by name',
    [
      ['7', '2'],
      ['Ada', '2'],
      ['Bob', '1'],
    ],
  ],
  ["select name from customers where id in (select customer_id from orders where status = 'new')", [['Ada']]],
  [
    'select name from customers c where exists (select 1 from orders o where o.customer_id = c.id and o.status is null)',
    [['7']],
  ],
  [
    'select name, (select count(*) from orders where customer_id = customers.id) as n from customers order by id',
    [
      ['Ada', '2'],
      ['Bob', '1'],
      ['7', '2'],
    ],
  ],
  ['select id from orders where id >= all (select id from orders)', [['5']]],
  ['select id from orders where id < 3 order by id limit null', [['1'], ['2']]],
  // By the column of the table, as in PostgreSQL, and not by that of the result.
  [
    "select 'x' as status, count(*) from orders group by status order by 2",
    [
      ['x', '1'],
      ['x', '1'],
      ['x', '3'],
    ],
  ],
  ['select id from orders where id > any (select id from orders where id > 2) order by id', [['4'], ['5']]],
  [
    'select id from orders where id = 1 union all select id from customers where id = 3 order by id desc',
    [['3'], ['1']],
  ],
  ["select region from customers except select 'AMER' order by 1", [['EMEA']]],
  [
    '(with a as (select id from orders where id = 1) select id from a) union (with b as (select id from orders where id = 2) select id from b) order by 1',
    [['1'], ['2']],
  ],
  [
    'select n from (with a as (select count(*) as n from orders) select n from a) x where n in (with b as (select 5 as v from orders) select v from b)',
    [['5']],
  ],
  ['select x.n from (select count(*) as n from orders) x', [['5']]],
  [
    'select id, row_number() over (partition by customer_id order by id desc) as r from orders order by id',
    [
      ['1', '2'],
      ['2', '1'],
      ['3', '1'],
      ['4', '2'],
      ['5', '1'],
    ],
  ],
  [
    'select id, sum(id) over (order by id rows between 1 preceding and current row) from orders order by id limit 3',
    [
      ['1', '1'],
      ['2', '3'],
      ['3', '5'],
    ],
  ],
  [
    'select id, lag(id, 1, 0) over (order by id) from orders order by id limit 2 offset 1',
    [
      ['2', '1'],
      ['3', '2'],
    ],
  ],
  ['select percentile_cont(0.5) within group (order by id) from orders', [['3']]],
  ["select string_agg(name, ', ' order by name) from customers", [['7, Ada, Bob']]],
  ["select count(distinct customer_id), count(*) filter (where status = 'done') from orders", [['3', '3']]],
  [
    "select date_trunc('month', ordered_at) as month, count(*) from orders group by date_trunc('month', ordered_at) order by month",
    [
      ['2024-01-01 00:00:00', '2'],
      ['2024-02-01 00:00:00', '2'],
      ['2024-03-01 00:00:00', '1'],
    ],
  ],
  [
    "select extract(month from ordered_at), date_part('year', ordered_at) from orders where id = 3",
    [['2', '2024']],
  ],
  [
    "select id from orders where ordered_at >= timestamp '2024-02-01' and ordered_at < date '2024-02-10' + interval '1 day'",
    [['3']],
  ],
  ["select id from orders where ordered_at > '2024-02-15' order by 1", [['4'], ['5']]],
  [
    "select count(*) from orders where ordered_at > now() - interval '60 days' and ordered_at < current_date",
    [['2']],
  ],
  [
    "select case when id > 2 then 'late' when id = 2 then 'mid' else 'early' end as k, count(*) from orders group by 1 order by 1",
    [
      ['early', '1'],
      ['late', '3'],
      ['mid', '1'],
    ],
  ],
  ["select case status when 'new' then 1 end from orders where id = 1", [['1']]],
  [
    "select coalesce(status, 'none'), nullif(id, 5), greatest(id, 3), least(id, 3) from orders where id = 5",
    [['none', null, '5', '3']],
  ],
  ["select id from orders where status not in ('new', 'x') and id between 2 and 3 and not (id = 2)", [['3']]],
  [
    "select id from orders where status like 'd%' and status not like '%x' and status ilike 'DO__' order by id",
    [['2'], ['3'], ['4']],
  ],
  [
    "select 'a\\b' like 'a\\\\b', 'a%' like 'a\\%', 'ab' like 'a\\%', 'a\\' like 'a\\\\', 'a!' like 'a!!' escape '!', 'a\\' like 'a\\' escape '!' from orders where id = 1",
    [[true, true, false, true, true, true]],
  ],
  [
    "select 'a\nb' like 'a_b', 'a.b' like 'a.%_', 'axb' like 'a.__', 'Straße' ilike 'STRA_E', 'x[1]' ilike 'X[_]', 'a_b' like 'a!_%' escape '!', 'axb' like 'a!_b' escape '!', 'a%' not like 'a%%' escape '%', 'ÄB' ilike 'ä%', null like '_' from orders where id = 1",
    [[true, true, false, true, true, true, false, false, true, null]],
  ],
  [
    "select name from customers where '50%' like '50!%' escape '!' and name is distinct from 'Ada' and (name = '7') is not true",
    [['Bob']],
  ],
  [
    "select -id, +id, id + 2 * 3 - 1, id % 2, 'a' || 'b', 1.50, true, null from orders where id = 1",
    [['-1', '1', '6', '1', 'ab', '1.5', true, null]],
  ],
  [
    "select cast(id as text), id::numeric(10, 2), cast('12' as integer), cast('abc' as varchar(9)) from orders where id = 1",
    [['1', '1', '12', 'abc']],
  ],
  [
    "select trim(' a '), substring(name from 1 for 2), position('b' in name), length(name), left(name, 1), replace(name, 'B', 'R'), concat(name, 1) from customers where id = 2",
    [['a', 'Bo', '3', '3', 'B', 'Rob', 'Bob1']],
  ],
  [
    'select sqrt(16), power(2, 3.0), exp(0.0), ln(1), log(100.0), 1e3, -2.5E-1, round(1e3), trunc(1.5e0) from orders where id = 1',
    [['4', '8', '1', '0', '2', '1000', '-0.25', '1000', '1']],
  ],
  [
    "select round(2.345, 2), round(1234, -2), round(1e3 / 8, 1), round(cast('0.5' as float8), 1), cast('1e3' as float8) from orders where id = 1",
    [['2.35', '1200', '125', '0.5', '1000']],
  ],
  ['select round(avg(id), 1), min(status), bool_or(id = 1) from orders', [['3', 'done', true]]],
  [
    "select 'it''s', E'a\\\\b\\n', 'a\\b', U&'\\0041', $$x'y$$ from orders where id = 1",
    [["it's", 'a\\b\n', 'a\\b', 'A', "x'y"]],
  ],
  ["select '' || status from orders where id = 1", [['new']]],
  ['select id from orders where big order by id', [['1'], ['2'], ['4']]],
  // By the column of the table, although the result has one with the name of the table.
  ['select id as o from orders o order by o.status, 1', [['2'], ['3'], ['4'], ['1'], ['5']]],
  ['select a.id, b.id from orders a cross join orders b where a.id = 1 and b.id > 4', [['1', '5']]],
  [
    'select a.n from (select customer_id, count(*) as n from orders group by customer_id) as a full join customers c on c.id = a.customer_id order by 1',
    [['1'], ['2'], ['2']],
  ],
];

/** Of a view: rows of its root, unless a column repeats them. */
const VIEW_ROWS: [string, Cell[][]][] = [
  ['select count(*) from sales', [['5']]],
  ["select count(*) from sales where region = 'EMEA' and name is not null", [['4']]],
  ['select count(*) from sales where product is not null', [['3']]],
  ['select count(*), count(product) from sales', [['6', '3']]],
  ['select count(distinct name), measure(people) from sales', [['3', '3']]],
  ['select name from sales order by 1', [['7'], ['7'], ['Ada'], ['Ada'], ['Bob']]],
  [
    "select count(*), sum(id), count(*) filter (where status = 'done'), measure(lines), measure(people) from sales",
    [['5', '15', '3', '3', '3']],
  ],
  [
    'select region, count(*) as n, measure(lines) from sales group by region having count(*) > 1 order by count(*)',
    [['EMEA', '4', '3']],
  ],
  [
    'select percentile_cont(0.5) within group (order by id), measure(weight) from sales where id < 4',
    [['2', '60']],
  ],
  [
    'select upper(region), measure(people), measure(lines) from sales group by 1 order by 1',
    [
      ['AMER', '1', '0'],
      ['EMEA', '2', '3'],
    ],
  ],
  [
    'select id, measure(people), measure(weight), sum(id) over () from sales where id < 3 group by id order by id',
    [
      ['1', '1', '30', '3'],
      ['2', '1', '30', '3'],
    ],
  ],
  ['select count(*) from products', [['5']]],
  ['select region from ordering order by 1', [['AMER'], ['EMEA'], ['EMEA'], ['EMEA'], ['EMEA']]],
  // Lines that no order leads to are not in the view.
  ['select measure(lines) from sales', [['3']]],
  ['select measure(count) from items', [['4']]],
];

test.each([...MEANINGS, ...VIEW_ROWS])('%s', async (text, rows) => {
  expect(await rowsOf(text)).toEqual(rows);
});

test('columns have the names of the statement, each once', () => {
  const names = (text: string) => sqlPlanOf(model, text).columns;
  expect(
    names(
      'select id, o.status as "State", count(*), count(*), measure(amount), 1 + 1, id::text, least(1, 2), greatest(1, 2) from orders o',
    ),
  ).toEqual(['id', 'State', 'count', 'count_2', 'amount', 'column', 'id_2', 'least', 'greatest']);
});

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
      const { plans } = planQuery(model, { order: [], ...query }, viewer, {
        dialect: engine.dialect,
        now: new Date(),
      });
      const sorted = (rows: Cell[][]) => rows.map((row) => JSON.stringify(row)).sort();
      const expected = sorted(await engine.rows(plans[0]!.statement));
      const { statement } = sqlPlanOf(model, text, viewer, engine.dialect);
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
  expect(sqlErrorOf(model, text, analyst).message).toContain(message);
});

test('rows of a view of whose root nothing is open are counted under the policies of what is open', async () => {
  expect(await rowsOf('select count(*) from ordering', emea)).toEqual([['4']]);
  expect(await rowsOf('select count(*) from ordering', somebody)).toEqual([['0']]);
});

test('what nothing repeats is read without numbers for its rows, and a measure once', () => {
  const sqlOf = (text: string) => sqlPlanOf(model, text).statement.sql;
  expect(sqlOf('select product, measure(amount) from sales group by 1')).toContain('row_number');
  for (const text of [
    'select product from sales',
    'select measure(amount) from orders',
    'select measure(count), measure(lines) from sales',
  ])
    expect(sqlOf(text)).not.toContain('row_number');
  expect(sqlOf('select measure(amount) from orders')).not.toContain('.*');
  expect(sqlOf('select measure(amount), measure(amount) from orders')).not.toContain('m2');
  expect(sqlErrorOf(model, 'select measure(regon) from sales').message).not.toContain('`region`');
});

test('a policy counts only if it opens the measures that a statement names', () => {
  const guarded = modelOf(`cubes:
  - name: orders
    sql_table: shop_orders
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: status, sql: status, type: string }
    measures:
      - { name: count, type: count }
      - { name: amount, sql: amount, type: sum }
    access_policy:
      - { group: "*", member_level: { excludes: [amount] } }
      - { group: "*", row_level: { filters: [{ member: status, operator: equals, values: [done] }] } }
`);
  const valuesOf = (text: string) => sqlPlanOf(guarded, text).statement.parameters;
  expect(valuesOf('select measure(count) from orders')).toEqual([]);
  expect(valuesOf('select measure(amount) from orders')).toEqual(['done']);
});

test('policies of every cube behind a table apply, wherever the table stands', async () => {
  expect(await rowsOf('select name from customers order by id', emea)).toEqual([['Ada'], ['7']]);
  expect(await rowsOf('select count(*) from customers', emea)).toEqual([['2']]);
  expect(await rowsOf('select count(*) from customers', somebody)).toEqual([['0']]);
  expect(await rowsOf('select id from sales where name is not null order by id', emea)).toEqual([
    ['1'],
    ['2'],
    ['4'],
    ['5'],
  ]);
  expect(
    await rowsOf('select id from orders where customer_id in (select id from customers) order by id', emea),
  ).toEqual([['1'], ['2'], ['4'], ['5']]);
  expect(
    await rowsOf('select o.id from orders o right join customers c on c.id = o.customer_id order by 1', emea),
  ).toEqual([['1'], ['2'], ['4'], ['5']]);
  expect(await rowsOf('select (select max(name) from customers) from orders limit 1', somebody)).toEqual([
    [null],
  ]);
});

test('a condition is not computed for a row that the viewer may not see', async () => {
  // `Ada` and `Bob` are no numbers, so the cast fails for them.
  const hidden: Viewer = { ...somebody, userAttributes: { region: 'nowhere' } };
  const texts = [
    'select count(*) from customers where cast(name as integer) = 7',
    'select count(*) from customers a join customers b on cast(a.name as integer) = b.id',
    'select sum(case when cast(name as integer) > 0 then 1 end) from customers where cast(name as integer) > 0',
    'select cast(name as integer) as n from customers order by n',
    'select max(cast(name as integer)) from customers group by cast(name as integer)',
  ];
  for (const text of texts) {
    for (const engine of engines) {
      const { statement } = sqlPlanOf(model, text, hidden, engine.dialect);
      expect(statement.sql).toContain('offset 0');
      await engine.rows(statement);
    }
  }
  for (const engine of engines) {
    const { statement } = sqlPlanOf(model, texts[0]!, analyst, engine.dialect);
    await expect(engine.rows(statement)).rejects.toThrow();
  }
});

test('whether a pattern fails does not depend on values that the viewer may not see', async () => {
  const postgres = engines.find(({ dialect }) => dialect === 'postgres')!;
  await postgres.run('analyze shop_customers');
  const hidden: Viewer = { ...somebody, userAttributes: { region: 'nowhere' } };
  const ask = async (pattern: string) => {
    const text = `select id from customers where name like '${pattern}'`;
    try {
      return String(await postgres.rows(sqlPlanOf(model, text, hidden, 'postgres').statement));
    } catch (error) {
      return (error as Error).message;
    }
  };
  expect(await ask('Ada%')).toBe(await ask('Eve%'));
  expect(await ask('A%\\')).toBe(await ask('E%\\'));
  expect(await ask('A%\\')).toContain('cannot end with its escape character');
});

test.each(['like', 'ilike'])(
  'no pattern of %s holds DuckDB, which could not be interrupted',
  async (word) => {
    const duckdb = engines.find(({ dialect }) => dialect === 'duckdb')!;
    for (const end of ['b', 'b_', '\\_']) {
      const text = `select count(*) from orders where '${'a'.repeat(100)}' || id ${word} '${'%a'.repeat(12)}%${end}'`;
      const { statement } = sqlPlanOf(model, text);
      // First, because it would not come back from the other one.
      expect(statement.sql).toContain(end === 'b' ? ' like ' : 'regexp_full_match');
      expect(statement.sql).not.toMatch(/ ilike | escape /);
      expect(await duckdb.rows(statement)).toEqual([['0']]);
    }
  },
);

test('rows that nothing guards can be filtered where they are read', () => {
  expect(sqlPlanOf(model, 'select status from orders').statement.sql).not.toContain('offset 0');
});

test('the values of the viewer are parameters, and names of the statement do not get into the SQL', () => {
  const text =
    'with "x; drop" as (select region as "y""z" from customers) select "y""z" as "a b" from "x; drop" "t""t"';
  const viewer: Viewer = { ...somebody, userAttributes: { region: "E'; select" } };
  const { statement } = sqlPlanOf(model, text, viewer);
  expect(statement.parameters).toContain("E'; select");
  for (const part of ['drop', 'y"', 'a b', 't"', "E'"]) expect(statement.sql).not.toContain(part);
});

test.each([
  [
    'select id from ordrs',
    'There is no cube or view `ordrs` that this query can use. Did you mean `orders`?',
  ],
  ['with mine as (select 1 as a from orders) select a from mime', 'Did you mean `mine`?'],
  ['select stats from orders', 'There is no column `stats` that this query can use. Did you mean `status`?'],
  [
    'select o.stats from orders o',
    'There is no column `o.stats` that this query can use. Did you mean `status`?',
  ],
  [
    'select measure(amont) from orders',
    'There is no measure `amont` that this query can use. Did you mean `amount`?',
  ],
  ['select measure(s.averge) from sales s', 'Did you mean `average`?'],
  ['select table_name from information_schema.tables', 'the tables are the cubes and views'],
])('%s is told what it may have meant', (text, message) => {
  expect(sqlErrorOf(model, text, analyst).message).toContain(message);
});

test('what a member that is hidden is called cannot be found out', () => {
  const told = (text: string, viewer = analyst) => sqlErrorOf(model, text, viewer);
  for (const [hidden, missing] of [
    ['select secret from customers', 'select sacred from customers'],
    ['select c.secret from customers c', 'select c.sacred from customers c'],
    ['select id from hidden', 'select id from hodden'],
    ['select id from hiden', 'select id from hoden'],
    ['select secre from customers', 'select sacre from customers'],
    ['select hidden.id from orders', 'select hodden.id from orders'],
    ['select measure(secret) from customers', 'select measure(sacred) from customers'],
  ] as const) {
    const [one, other] = [told(hidden), told(missing)];
    expect(one.code).toBe('unknown_member');
    expect(one.message.replace(/secret?|hidd?en/g, 'X')).toBe(
      other.message.replace(/sacre(d|\b)|hodd?en/g, 'X'),
    );
  }
  // A name that a viewer cannot use is free for other things.
  expect(sqlPlanOf(model, 'with hidden as (select id from orders) select id from hidden').columns).toEqual([
    'id',
  ]);
});

test('a number has all of its digits, or is refused', async () => {
  const digits = '12345678901234567890123456789012345678';
  for (const engine of engines) {
    const { statement } = sqlPlanOf(
      model,
      `select ${digits}, 1e3 from orders where id = 1`,
      somebody,
      engine.dialect,
    );
    expect((await engine.rows(statement))[0]![0]).toBe(digits);
  }
  for (const number of [
    `${digits}9`,
    `-${digits}9`,
    `0.${digits}9`,
    '1e999',
    '-1e999',
    '1e-999',
    `${digits}9e-1`,
  ]) {
    expect(sqlErrorOf(model, `select ${number} from orders`).message).toContain(
      'more than 38 digits, above 1e308, or below 1e-308',
    );
  }
});

test('no constant and no function makes a number of very many digits', async () => {
  const numbers = [
    'power(1e300, 400)',
    'power(1e300, 400.0)',
    'power(10.0, 5000)',
    'exp(5000.0)',
    'exp(100000.0)',
    'sqrt(1.0e-300)',
    '1e300 * 1e300 * 1.5',
    "1.5 * '1e9999'",
    "coalesce(' +1.0E9999', 1.5)",
    "greatest(1.5, '1_0e9_999')",
    "(select 1.5 union all select '1e9999' order by 1 desc limit 1)",
    'round(1e300, 38)',
    "round('1e60000', 0)",
    "round('1e' || '60000', 0) - 1",
  ];
  for (const engine of engines) {
    for (const number of numbers) {
      const text = `select length(cast(${number} as text)) from orders where id = 1`;
      const { statement } = sqlPlanOf(model, text, somebody, engine.dialect);
      const length = await engine.rows(statement).then(
        ([row]) => Number(row![0]),
        () => 'failed',
      );
      if (length !== 'failed') expect(length, `${engine.dialect}: ${number}`).toBeLessThan(400);
    }
  }
  for (const digits of ['2000', '39', '-39', 'id', '1.5', '1 + 1', 'null']) {
    expect(sqlErrorOf(model, `select round(1.0, ${digits}) from orders`)).toMatchObject({
      code: 'unsupported_query',
      message: '`round` takes a whole number from -38 to 38 as its second argument.',
    });
  }
});

test('a remainder is of whole numbers and decimals, on every engine', async () => {
  const text =
    "select 7 % 4, mod(7.5, 2), -7 % 4, '7' % 4, mod(cast(1e1 as numeric), 4), 7 % -(id + 1), (id + 2) % 2 from orders where id = 1";
  expect(await rowsOf(text)).toEqual([['3', '1.5', '-3', '3', '2', '1', '1']]);
  const doubles = [
    'id % 1e1',
    '1e1 % id',
    'mod(id, 1e1)',
    'mod(sqrt(id), 2)',
    'cast(id as float8) % 2',
    'id::real % 2',
    'id % -1e1',
    '(id + 2 * 1e1) % 2',
  ];
  for (const double of doubles) {
    expect(sqlErrorOf(model, `select ${double} from orders`), double).toMatchObject({
      code: 'unsupported_query',
      message: expect.stringContaining('take whole numbers and decimals'),
    });
  }
});

const REFUSED: [string, string][] = [
  ['round()', '`round` takes a number'],
  ["date_part('year')", '`extract` takes a part and a time.'],
  ["date_trunc('day')", '`date_trunc` takes a unit and a time.'],
  ['percentile_cont(0.5 order by id)', 'is written as `percentile_cont(0.5) within group'],
  ["sum(id) over (order by id rows '1' preceding)", 'counted by whole numbers'],
  ['sum(id) over (order by id rows null preceding)', 'counted by whole numbers'],
  ['sum(id) over (order by id groups 1 preceding)', 'This part of a window cannot be used.'],
  ['1 operator(pg_catalog.+) 2', 'This operator cannot be used.'],
  ['@ id', 'The operator `@` cannot be used here.'],
  ['~ id', 'The operator `~` cannot be used here.'],
  ['|/ id', 'The operator `|/` cannot be used here.'],
  ['cast(id as public.int4)', 'The type `public.int4` cannot be used.'],
  ['cast(id as pg_catalog.public.int4)', 'The type `pg_catalog.public.int4` cannot be used.'],
];
test.each(REFUSED)('select %s from orders is refused', (text, message) => {
  expect(sqlErrorOf(model, `select ${text} from orders`).message).toContain(message);
});

test.each([
  ["select status from orders group by '1'", 'A column is named, or counted from 1 to 1.'],
  ["select status from orders order by '1'", 'A column is named, or counted from 1 to 1.'],
  ['-- nothing', 'The SQL is empty.'],
  ['delete from orders', 'Only a SELECT can be run.'],
  ['select 1 from generate_series(1, 2)', 'A function cannot be a table.'],
  ['select orders.status.x from orders', 'A column is written as `status` or `orders.status`.'],
  ['select orders.x.* from orders', '`orders.x.*` stands for no columns here.'],
  ['select id from orders union select id from customers order by 1 + 1', 'ordered by columns of the result'],
])('%s is refused', (text, message) => {
  expect(sqlErrorOf(model, text).message).toContain(message);
});

test('a statement reads one data source', () => {
  expect(sqlErrorOf(model, 'select 1').message).toContain('reads no cube and no view');
  expect(sqlErrorOf(model, 'select 1 from orders, elsewhere').message).toContain('same data source');
  for (const text of ['select id from orders', 'select measure(done_share) from orders']) {
    const inClickHouse = () => sqlPlanOf(model, text, somebody, 'clickhouse');
    expect(inClickHouse).toThrow('SQL cannot be run in this kind of data source yet.');
  }
});
