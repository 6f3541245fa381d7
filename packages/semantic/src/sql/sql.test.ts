/** SQL that reads cubes and views as tables: what it means, on every engine. */
import { expect, test } from 'vitest';
import type { Cell } from '../../test/engines.ts';
import { somebody } from '../../test/plans.ts';
import { shop, shopEngines } from '../../test/shop.ts';
import { sqlErrorOf, sqlPlanOf } from '../../test/sql.ts';

const { engines, rowsOf } = shopEngines();

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
  ["select count(*) from orders where status <> ''", [['4']]],
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
  const names = (text: string) => sqlPlanOf(shop, text).columns;
  expect(
    names(
      'select id, o.status as "State", count(*), count(*), measure(amount), 1 + 1, id::text, least(1, 2), greatest(1, 2) from orders o',
    ),
  ).toEqual(['id', 'State', 'count', 'count_2', 'amount', 'column', 'id_2', 'least', 'greatest']);
});

test('a number has all of its digits, or is refused', async () => {
  const digits = '12345678901234567890123456789012345678';
  for (const engine of engines) {
    const { statement } = sqlPlanOf(
      shop,
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
    expect(sqlErrorOf(shop, `select ${number} from orders`).message).toContain(
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
      const { statement } = sqlPlanOf(shop, text, somebody, engine.dialect);
      const length = await engine.rows(statement).then(
        ([row]) => Number(row![0]),
        () => 'failed',
      );
      if (length !== 'failed') expect(length, `${engine.dialect}: ${number}`).toBeLessThan(400);
    }
  }
  for (const digits of ['2000', '39', '-39', 'id', '1.5', '1 + 1', 'null']) {
    expect(sqlErrorOf(shop, `select round(1.0, ${digits}) from orders`)).toMatchObject({
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
    expect(sqlErrorOf(shop, `select ${double} from orders`), double).toMatchObject({
      code: 'unsupported_query',
      message: expect.stringContaining('take whole numbers and decimals'),
    });
  }
});
