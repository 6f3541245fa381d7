/** What ClickHouse needs and other databases do not. Its rows are compared in `npm run test:clickhouse`. */
import { expect, test } from 'vitest';
import { modelOf, planOf, somebody } from '../../../test/plans.ts';

const cube = (sql: string, measure = 'sum({CUBE}.n)') => `cubes:
  - name: events
    sql_table: events
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true, public: true }
      - { name: at, sql: at, type: time }
      - { name: kind, type: string, sql: ${JSON.stringify(sql)} }
    measures:
      - { name: total, type: number, sql: ${JSON.stringify(measure)} }
    access_policy:
      - { group: "*", row_level: { filters: [{ member: kind, operator: equals, values: ["{ userAttributes.kind }"] }] } }
`;
const viewer = { ...somebody, userAttributes: { kind: 'a' } };
const statementOf = (query: object, sql = 'kind', measure?: string) =>
  planOf(modelOf(cube(sql, measure)), query, viewer, 'clickhouse').statement;
const filtered = (member: string, operator: string, ...values: string[]) => {
  const open = modelOf(cube('kind').replace(/ {4}access_policy:[\s\S]*/, ''));
  const query = { dimensions: ['events.id'], filters: [{ member: `events.${member}`, operator, values }] };
  const { sql, parameters } = planOf(open, query, viewer, 'clickhouse').statement;
  return [/where (.*)/.exec(sql)![1], parameters.slice(0, values.length)];
};

test.each(['kind -- x', 'kind // x', 'kind # x', 'kind #! x', 'kind /* x */'])(
  'a comment in %j cannot swallow a policy',
  (sql) => {
    const { sql: made } = statementOf({ dimensions: ['events.id'] }, `{CUBE}.${sql}`);
    expect(made).toMatch(/^ *where toString\(.*\) = \{p1:String\}$/m);
    expect(made).not.toMatch(/ x/);
  },
);

test('texts with escaped quotes stay whole', () => {
  const text = 'concat(\'\\\' -- \', "a\\" // b", `c # d`, $x$ e -- f $x$)';
  expect(statementOf({ dimensions: ['events.id'] }, text).sql).toContain(text);
});

test('a comment in a number does not swallow what follows', () => {
  const { sql } = statementOf({ measures: ['events.total'] }, 'kind', 'sum({CUBE}.n) // all');
  expect(sql).toMatch(/sum\("events"\.n\) +as "m1"/);
});

test('numbers are bound with the type that tells them apart', () => {
  expect(filtered('id', 'equals', '9007199254740993')).toEqual([
    '"events".id = {p1:Int64}',
    ['9007199254740993'],
  ]);
  expect(filtered('id', 'gt', '18446744073709551615')).toEqual([
    '"events".id > {p1:UInt64}',
    ['18446744073709551615'],
  ]);
  expect(filtered('id', 'gt', '18446744073709551616')[0]).toBe('"events".id > {p1:Decimal(76, 0)}');
  expect(filtered('id', 'gt', '-18446744073709551615')[0]).toBe('"events".id > {p1:Decimal(76, 0)}');
  expect(filtered('id', 'lt', '12.50')).toEqual(['"events".id < {p1:Decimal(76, 2)}', ['12.50']]);
  expect(filtered('id', 'lt', '1e300')[0]).toBe('"events".id < {p1:Float64}');
});

test('only whole numbers and texts stand in a list, because others must be of the type of the column', () => {
  expect(filtered('id', 'equals', '1', '2')[0]).toBe('"events".id in ({p1:Int64}, {p2:Int64})');
  expect(filtered('id', 'equals', '1', '2.5')[0]).toBe(
    '("events".id = {p1:Int64} or "events".id = {p2:Decimal(76, 1)})',
  );
  expect(filtered('id', 'notEquals', '1', '2.5')[0]).toBe(
    '(not ("events".id = {p1:Int64} or "events".id = {p2:Decimal(76, 1)}) or "events".id is null)',
  );
});

test('times are bound as ClickHouse reads them, also beyond all times', () => {
  expect(filtered('at', 'beforeDate', '2024-01-31')).toEqual([
    `"events".at < {p1:DateTime64(6, 'UTC')}`,
    ['2024-01-31 00:00:00.000000'],
  ]);
  expect(filtered('at', 'afterDate', '9999-12-31')[1]).toEqual(['9999-12-31 23:59:59.999999']);
  expect(filtered('at', 'inDateRange', 'last 99999 years')[1]).toEqual(['0001-01-01 00:00:00.000000']);
});

test('a statement says the settings that it needs', () => {
  expect(statementOf({ dimensions: ['events.id'] }).sql).toMatch(
    /\nsettings join_use_nulls = 1, aggregate_functions_null_for_empty = 1, .*$/,
  );
});
