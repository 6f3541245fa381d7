/** SQL that is refused, and what its caller is told. */
import { expect, test } from 'vitest';
import { somebody } from '../../test/plans.ts';
import { analyst, shop } from '../../test/shop.ts';
import { sqlErrorOf, sqlPlanOf } from '../../test/sql.ts';

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
  expect(sqlErrorOf(shop, text, analyst).message).toContain(message);
});

const REFUSED: [string, string][] = [
  ['0x1FFFFFFFFFFFFFFFF', 'The SQL has a number that cannot be used here.'],
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
  expect(sqlErrorOf(shop, `select ${text} from orders`).message).toContain(message);
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
  expect(sqlErrorOf(shop, text).message).toContain(message);
});

test('a statement reads one data source', () => {
  expect(sqlErrorOf(shop, 'select 1').message).toContain('reads no cube and no view');
  expect(sqlErrorOf(shop, 'select 1 from orders, elsewhere').message).toContain('same data source');
  for (const text of ['select id from orders', 'select measure(done_share) from orders']) {
    const inClickHouse = () => sqlPlanOf(shop, text, somebody, 'clickhouse');
    expect(inClickHouse).toThrow('SQL cannot be run in this kind of data source yet.');
  }
});
