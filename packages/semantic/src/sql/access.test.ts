/** What SQL shows to whom. */
import { expect, test } from 'vitest';
import { somebody } from '../../test/plans.ts';
import { analyst, emea, shop, shopEngines } from '../../test/shop.ts';
import { sqlErrorOf, sqlPlanOf } from '../../test/sql.ts';
import type { Viewer } from '../index.ts';

const { engines, rowsOf } = shopEngines();

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

test('rows of a view of whose root nothing is open are counted under the policies of what is open', async () => {
  expect(await rowsOf('select count(*) from ordering', emea)).toEqual([['4']]);
  expect(await rowsOf('select count(*) from ordering', somebody)).toEqual([['0']]);
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
      const { statement } = sqlPlanOf(shop, text, hidden, engine.dialect);
      expect(statement.sql).toContain('offset 0');
      await engine.rows(statement);
    }
  }
  for (const engine of engines) {
    const { statement } = sqlPlanOf(shop, texts[0]!, analyst, engine.dialect);
    await expect(engine.rows(statement)).rejects.toThrow();
  }
});

test('rows that nothing guards can be filtered where they are read', () => {
  expect(sqlPlanOf(shop, 'select status from orders').statement.sql).not.toContain('offset 0');
});

test('whether a pattern fails does not depend on values that the viewer may not see', async () => {
  const postgres = engines.find(({ dialect }) => dialect === 'postgres')!;
  await postgres.run('analyze shop_customers');
  const hidden: Viewer = { ...somebody, userAttributes: { region: 'nowhere' } };
  const ask = async (pattern: string) => {
    const text = `select id from customers where name like '${pattern}'`;
    try {
      return String(await postgres.rows(sqlPlanOf(shop, text, hidden, 'postgres').statement));
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
      const { statement } = sqlPlanOf(shop, text);
      // Check the text first: DuckDB would never return from the other form.
      expect(statement.sql).toContain(end === 'b' ? ' like ' : 'regexp_full_match');
      expect(statement.sql).not.toMatch(/ ilike | escape /);
      expect(await duckdb.rows(statement)).toEqual([['0']]);
    }
  },
);

test('the values of the viewer are parameters, and names of the statement do not get into the SQL', () => {
  const text =
    'with "x; drop" as (select region as "y""z" from customers) select "y""z" as "a b" from "x; drop" "t""t"';
  const viewer: Viewer = { ...somebody, userAttributes: { region: "E'; select" } };
  const { statement } = sqlPlanOf(shop, text, viewer);
  expect(statement.parameters).toContain("E'; select");
  for (const part of ['drop', 'y"', 'a b', 't"', "E'"]) expect(statement.sql).not.toContain(part);
});

test('what a member that is hidden is called cannot be found out', () => {
  const told = (text: string, viewer = analyst) => sqlErrorOf(shop, text, viewer);
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
  expect(sqlPlanOf(shop, 'with hidden as (select id from orders) select id from hidden').columns).toEqual([
    'id',
  ]);
});
