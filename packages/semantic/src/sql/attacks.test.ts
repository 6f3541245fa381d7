import { parseSync } from 'libpg-query';
import { expect, test } from 'vitest';
import { ATTACKS } from '../../test/attacks.ts';
import { modelOf, somebody } from '../../test/plans.ts';
import { ORDERS } from '../../test/shop.ts';
import { sqlErrorOf, sqlPlanOf } from '../../test/sql.ts';
import { planSql, QueryError } from '../index.ts';

const model = modelOf(`${ORDERS}  - name: customers
    sql_table: shop_customers
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: region, sql: region, type: string }
  - name: hidden
    public: false
    sql_table: shop_hidden
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
`);

/** What the statement is refused with; undefined if it is not. */
function refusalOf(text: string): string | undefined {
  try {
    sqlPlanOf(model, text);
    return undefined;
  } catch (error) {
    if (error instanceof QueryError) return error.code;
    if ((error as Error).name === 'SqlError') return 'syntax';
    throw error;
  }
}

test('what is not one plain SELECT from cubes and views is refused', () => {
  const accepted = ATTACKS.filter((text) => refusalOf(text) === undefined);
  console.log(`${ATTACKS.length} attacks by SQL`);
  expect(accepted).toEqual([]);
  expect(ATTACKS.length).toBeGreaterThan(400);
});

const TREE = () =>
  parseSync(`with x as (select id, upper(status) as s from orders where id > 1 and status like 'a%' order by 2 limit 3)
    select s, count(*) filter (where s is not null) as n, sum(id) over (partition by s order by id rows 1 preceding),
      case when s = 'A' then 1 else 2 end, cast(id as numeric(10, 2)), coalesce(s, 'x')
    from x left join (select region from customers) c on c.region = x.s
    where s in (select status from orders) group by s, id having count(*) > 1 order by n desc`);
const planTree = (given: unknown) =>
  planSql(model, given, somebody, { dialect: () => 'duckdb', now: new Date() });

test('each part of a tree that nobody knows is refused', () => {
  const tree = TREE();
  planTree(tree);
  let changes = 0;
  /** Puts an unknown field into each object of the tree, one after the other. */
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    if (!Array.isArray(node)) {
      const object = node as Record<string, unknown>;
      object.newField = { X: {} };
      expect(() => planTree(tree), JSON.stringify(node).slice(0, 300)).toThrow(QueryError);
      delete object.newField;
      changes++;
    }
    for (const part of Object.values(node)) visit(part);
  };
  visit(tree);
  planTree(tree);
  expect(changes).toBeGreaterThan(200);
});

test('a tree that no parser makes is refused, and fails nowhere else', () => {
  const tree = TREE();
  const refusal = (): unknown => {
    try {
      planTree(tree);
      return undefined;
    } catch (error) {
      return error;
    }
  };
  let changes = 0;
  const visit = (node: Record<string, unknown>) => {
    for (const [key, part] of Object.entries(node)) {
      for (const other of [null, [], [null], 'x', 7, {}, { Other: {} }]) {
        node[key] = other;
        const error = refusal();
        if (error !== undefined) expect(error, `${key}: ${JSON.stringify(other)}`).toBeInstanceOf(QueryError);
        changes++;
      }
      node[key] = part;
      if (/^[A-Z]/.test(key)) {
        delete node[key];
        node.Other = part;
        expect(refusal(), `another node than ${key}`).toBeInstanceOf(QueryError);
        delete node.Other;
        node[key] = part;
      }
      if (typeof part === 'object' && part !== null) visit(part as Record<string, unknown>);
    }
  };
  visit(tree as unknown as Record<string, unknown>);
  planTree(tree);
  expect(changes).toBeGreaterThan(1000);
});

const LARGE: [string, string][] = [
  ['deep sums', `select ${'1 + '.repeat(150)}1 from orders`],
  ['deep selects', `select ${'(select '.repeat(120)}1${')'.repeat(120)} from orders`],
  ['deep tables', `select 1 from ${'(select 1 from '.repeat(120)}orders${') x'.repeat(120)}`],
  [
    'deep joins',
    `select 1 from orders o ${Array.from({ length: 120 }, (_, i) => `cross join orders o${i}`).join(' ')}`,
  ],
  ['deep unions', `select id from orders ${'union select 1 '.repeat(120)}`],
  [
    'deep common table expressions',
    `${'with a as ('.repeat(120)}select 1${') select 1'.repeat(120)} from orders`,
  ],
  [
    'many arguments',
    `select coalesce(${Array.from({ length: 101 }, () => 'status').join(', ')}) from orders`,
  ],
  ['many tables', `select 1 from ${Array.from({ length: 51 }, (_, i) => `orders o${i}`).join(', ')}`],
  [
    'many selects beside each other',
    `select ${Array.from({ length: 51 }, () => '(select 1)').join(', ')} from customers`,
  ],
  [
    'long products of texts that are numbers',
    `select ${Array(30).fill(Array(45).fill("round('999', 0)").join(' * ')).join(', ')} from orders`,
  ],
  ['many columns', `select ${Array.from({ length: 501 }, () => 'id').join(', ')} from orders`],
  [
    'columns that double',
    `with x0 as (select * from orders), ${Array.from({ length: 20 }, (_, i) => `x${i + 1} as (select a.*, b.* from x${i} a, x${i} b)`).join(', ')} select 1 from x20`,
  ],
];
test.each(LARGE)('a statement with %s is refused', (_, text) => {
  expect(sqlErrorOf(model, text).code).toBe('unsupported_query');
});

test('what the dialect writes twice does not double for each level', () => {
  let text = "select string_agg(status, ',') from orders";
  for (let i = 0; i < 18; i++) {
    text = `select string_agg(case when exists (${text}) then 'a' end, ',') from orders`;
  }
  const written = () => sqlPlanOf(model, text, somebody, 'postgres');
  expect(written).toThrow('The SQL of this request would be too long.');
});

test('names that the statement gets are in no text of the model', () => {
  const clash = modelOf(`cubes:
  - name: orders
    sql_table: ORIEL_1
    meta: { nothing: null }
    dimensions:
      - { name: id, sql: "{CUBE}.oriel__2", type: number, primary_key: true, public: true }
`);
  const { statement } = sqlPlanOf(clash, 'select id from orders');
  expect(statement.sql).toContain('with oriel___');
});

/** Selects inside of each other, each of which writes `made` over the column `x` of the one before it. */
const nested = (levels: number, made: string, last = 'x') =>
  `select ${last} as x from ${`(select ${made} as x from `.repeat(levels)}(select status as x from orders) t0${Array.from({ length: levels }, (_, i) => `) t${i + 1}`).join('')}`;

test.each([
  nested(12, 'x || x'),
  nested(12, 'concat(x, x)'),
  nested(5, 'concat(x, x, x, x, x)'),
  nested(12, "concat_ws(',', x, x)"),
  nested(4, "replace(x, 'a', '0123456789')"),
  nested(2, 'replace(x, left(x, 1), x)'),
  nested(2, "string_agg(x, ',')"),
  nested(2, "string_agg(x, ',') over ()"),
  nested(12, 'x * x'),
  nested(12, '1 / x / x'),
  nested(12, 'variance(x)'),
  nested(12, 'stddev_pop(x)'),
  nested(5, 'x * x', "strpos(cast(x as text), cast(x as text) || '1')"),
  nested(11, 'coalesce(x, x) || upper(x)'),
  nested(11, 'case when x = x then (select x || x) end'),
  nested(5, 'x || x', "strpos(x, x || 'b')"),
  nested(5, 'x || x', "replace(x, x || 'b', '')"),
  `with ${Array.from({ length: 12 }, (_, i) => `a${i + 1} as (select x || x as x from ${i ? `a${i}` : '(select status as x from orders) a0'})`).join(', ')} select x from a12`,
  `select x || x || x from (select status as x from orders union all ${nested(8, 'x || x')}) u`,
  `select x || x || x from (${nested(8, 'x || x')} union all select status from orders) u`,
  `select 1 from (select * from (${nested(9, 'x || x')}) a) b where x || x = 'a'`,
  `select 1 from orders group by status having string_agg(status, ',') || string_agg('${'a'.repeat(2000)}', ',') = ''`,
  nested(5, "coalesce(x || x || x || x || x, 'a')"),
  nested(5, "replace(x || x || x || x || x, 'a', '')"),
  `select a || a || a || a from (select status as a, status as b from orders union all select * from (select x, 'a' as x from (${nested(8, 'x || x')}) n) m) u`,
  // Texts that are shorter than a column make no room for others.
  `select ${Array(400).fill("'a'").join(', ')} from orders union all select ${Array(400).fill('status || status || status').join(', ')} from orders`,
  `select concat_ws('${'a'.repeat(8000)}', ${Array.from({ length: 48 }, () => 'status').join(', ')}) from orders`,
  `select strpos(string_agg(status, ','), '${'a'.repeat(1000)}') from orders`,
  `select split_part('${'a'.repeat(9000)}', '${'a'.repeat(9000)}', 1) from orders`,
  `select 1 from orders where status || '${'a'.repeat(2000)}' like '${'%a_'.repeat(1500)}b'`,
  `select 1 from orders where status || '${'a'.repeat(2000)}' not ilike '${'%a_'.repeat(50)}b'`,
  `select 1 from orders where status like '${'%a_'.repeat(200)}b'`,
])('texts that grow too long are refused: %#', (text) => {
  expect(sqlErrorOf(model, text)).toMatchObject({
    code: 'unsupported_query',
    message: expect.stringMatching(/texts that are too long|a long text in a long text/),
  });
});

test.each([
  nested(1, "x || ' ' || x || ' (' || x || ')'", "upper(x) || ': ' || x"),
  nested(4, 'x || x'),
  nested(2, "replace(replace(x, '&', '&amp;'), '<', '&lt;')"),
  nested(1, "string_agg(distinct x, ', ' order by x)", "'All: ' || coalesce(x, 'none')"),
  nested(1, "string_agg(x, ', ')", "strpos(x, 'new')"),
  `select ${Array.from({ length: 100 }, (_, i) => `round(100.0 * sum(id) / sum(id * 2), 2) as c${i}`).join(', ')} from orders`,
  `select ${Array.from({ length: 100 }, (_, i) => `status || ', ' || id || '-' as c${i}`).join(', ')} from orders`,
  `select ${Array.from({ length: 15 }, (_, i) => `string_agg(status, ', ') as c${i}`).join(', ')} from orders group by id`,
])('texts of ordinary length are not refused: %#', (text) => {
  expect(refusalOf(text)).toBeUndefined();
});
