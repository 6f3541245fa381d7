/** SQL of the model cannot swallow what the planner writes after it. */
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type Engine, openDuckDb, openPostgres } from '../test/engines.ts';
import {
  compileText,
  customers,
  expectError,
  JOIN,
  orders,
  withDimension,
  withMeasure,
  withSegment,
} from '../test/marked.ts';
import { modelOf, planOf, somebody } from '../test/plans.ts';
import { CLICKHOUSE, STANDARD, withoutComments } from './sql-texts.ts';

const PLACES: [string, (sql: string) => string][] = [
  ['a dimension', (sql) => withDimension(`{ name: x, type: string, sql: «${sql} }`)],
  [
    'a case',
    (sql) => withDimension(`{ name: x, type: string, case: { when: [{ sql: «${sql}, label: a }] } }`),
  ],
  [
    'a label',
    (sql) =>
      withDimension(`{ name: x, type: string, case: { when: [{ sql: "1 = 1", label: { sql: «${sql} } }] } }`),
  ],
  ['a segment', (sql) => withSegment(`{ name: x, sql: «${sql} }`)],
  ['a measure', (sql) => withMeasure(`{ name: x, type: sum, sql: «${sql} }`)],
  ['a filter of a measure', (sql) => withMeasure(`{ name: x, type: count, filters: [{ sql: «${sql} }] }`)],
  ['a cube', (sql) => orders().replace('sql_table: public.orders', `sql: «${sql}`)],
  ['a refresh key', (sql) => orders(`    refresh_key: { sql: «${sql} }\n`)],
];
const BAD = [
  'a /* x',
  'a /* /* x */',
  'a */',
  "'a",
  "a''' ",
  "'a'' ",
  'a "x',
  'a $x$ b',
  "E'a\\'",
  'a) or (b',
  '(a',
  'a) ',
  'a; drop table b',
];
describe.each(PLACES)('in %s', (_, textOf) => {
  test.each(BAD)('%j is refused', (sql) =>
    expectError(textOf(JSON.stringify(sql)), { code: 'bad_value', hint: /Close/ }),
  );
});

test('what is not closed in a join is refused', () => {
  const text = (sql: string) =>
    `${orders(JOIN.replace(/sql: ".*"/, () => `sql: «${JSON.stringify(sql)}`))}${customers()}`;
  for (const sql of [
    '{CUBE}.a = {customers.id} /* x',
    '{CUBE}.a = {customers.id}) or (1 = 1',
    "{CUBE}.a = '{customers.id}'",
  ])
    expectError(text(sql), { code: 'bad_value' });
});

test.each([
  "'{CUBE}.id'",
  '"{CUBE}"',
  '/* {CUBE.id} */ 1',
  '1 -- {CUBE.id}',

  "'{CUBE.id} --'",
])('the reference in %j is refused', (sql) =>
  expectError(withSegment(`{ name: x, sql: «${JSON.stringify(sql)} }`), { code: 'bad_value' }),
);

test.each([
  "'it''s' || '--' || '/*' || ')'",
  "a -- it's (fine",
  "/* it's (fine */ a",
  '"a--b" + "c""d"',
  "E'\\'' || $$ -- ' $$ || $x$ /* $$ $x$",
  'a - -b / *c',
  '(a + (b))',
  "'C:\\'",
  "'it\\'s'",
])('%j is not refused', (sql) => {
  expect(compileText(withSegment(`{ name: x, sql: ${JSON.stringify(sql)} }`)).errors).toEqual([]);
});

test('comments are left out, and nothing else', () => {
  expect(withoutComments('a -- x\n + \'--\' /* y */ + "/*" + $$--$$', STANDARD)).toBe(
    'a  \n + \'--\'   + "/*" + $$--$$',
  );
  expect(withoutComments("E'\\' -- ' -- x", STANDARD)).toBe("E'\\' -- '  ");
  expect(withoutComments("'\\' -- ' // x\n# y", CLICKHOUSE)).toBe("'\\' -- '  \n ");
  expect(withoutComments("'\\' -- '", STANDARD)).toBe("'\\'  ");
  expect(withoutComments("'\\'", CLICKHOUSE)).toBeUndefined();
});

test('a text that its data source reads in another way is refused when it is planned', () => {
  const model = modelOf(withDimension(`{ name: x, type: string, sql: ${JSON.stringify("'it\\'s'")} }`));
  expect(planOf(model, { dimensions: ['orders.x'] }, somebody, 'clickhouse').statement.sql).toContain(
    "'it\\'s'",
  );
  for (const dialect of ['postgres', 'duckdb'] as const)
    expect(() => planOf(model, { dimensions: ['orders.x'] }, somebody, dialect)).toThrow('is not closed');
});

let engines: Engine[] = [];
beforeAll(async () => {
  engines = [await openDuckDb(), await openPostgres(inject('postgresUrl'))];
  for (const engine of engines) {
    await engine.run('create table comment_rows (id integer, tenant text)');
    await engine.run("insert into comment_rows values (1, 'a'), (2, 'b'), (3, 'b')");
  }
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

test('a comment at the end of any SQL leaves the policies behind it in force', async () => {
  const note = "-- it's (all";
  const cube = (name: string, more: string) => `  - name: ${name}
    sql: "select * from comment_rows; ${note}"
${more}    dimensions:
      - { name: id, sql: "{CUBE}.id ${note}", type: number, primary_key: true, public: true }
      - { name: tenant, sql: "{CUBE}.tenant ${note}", type: string }
      - { name: kind, type: string, case: { when: [{ sql: "1 = 1 ${note}", label: { sql: "'x' ${note}" } }] } }
    measures:
      - { name: total, sql: "{id} ${note}", type: sum, filters: [{ sql: "{id} > 0 ${note}" }] }
      - { name: double, sql: "{total} * 2 ${note}", type: number }
    segments:
      - { name: all, sql: "1 = 1 ${note}" }
    access_policy:
      - group: "*"
        row_level: { filters: [{ member: tenant, operator: equals, values: [a] }] }
`;
  const join = `    joins:\n      - { name: others, relationship: many_to_one, sql: "{CUBE}.id = {others.id} ${note}" }\n`;
  const model = modelOf(`cubes:\n${cube('things', join)}${cube('others', '')}`);
  const query = {
    dimensions: ['things.kind', 'others.tenant'],
    measures: ['things.total', 'things.double'],
    segments: ['things.all'],
    filters: [{ member: 'things.kind', operator: 'equals', values: ['x'] }],
  };
  for (const engine of engines) {
    const { statement } = planOf(model, query, somebody, engine.dialect);
    expect(await engine.rows(statement), statement.sql).toEqual([['x', 'a', '1', '2']]);
  }
});
