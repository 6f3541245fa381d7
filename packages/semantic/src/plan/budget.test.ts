import { expect, test } from 'vitest';
import { errorOf, modelOf, NOW, somebody } from '../../test/plans.ts';
import { createPlanBudget, planQuery } from '../index.ts';
import { following } from './budget.ts';
import { duckdb } from './dialects/duckdb.ts';
import { renderStatement } from './render.ts';
import { type Select, sql } from './sql.ts';

const CUBES = ['orders', 'items', 'returns', 'visits'];
const model = modelOf(`cubes:
${CUBES.map(
  (name) => `  - name: ${name}
    sql_table: ${name}
    joins: [${name === 'orders' ? '' : '{ name: orders, relationship: many_to_one, sql: "{CUBE}.order_id = {orders}.id" }'}]
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: status, sql: status, type: string }
      - { name: at, sql: at, type: time }
    measures:
      - { name: count, type: count }
      - { name: recent, type: count, rolling_window: { trailing: 7 day } }
`,
).join('')}`);

const rolling = (ranges: string[][], measures = ['orders.recent', 'items.recent']) => ({
  measures,
  timeDimensions: [{ dimension: 'orders.at', granularity: 'day', compareDateRange: ranges }],
  timezone: 'America/New_York',
});
const fiveYears = ['2019-01-01', '2023-12-31'];
const repeat = <Item>(count: number, item: Item): Item[] => Array.from({ length: count }, () => item);
const planAll = (queries: readonly object[]) => {
  const budget = createPlanBudget();
  return queries.map((query) => planQuery(model, query, somebody, { dialect: 'postgres', now: NOW, budget }));
};

test('five years by day with a rolling window are planned, and compared with five other years', () => {
  const { plans } = planQuery(model, rolling([['2014-01-01', '2018-12-31'], fiveYears]), somebody, {
    dialect: 'postgres',
    now: NOW,
  });
  expect(plans).toHaveLength(2);
  // Days are counted by the database: what is written grows only with the changes of clocks.
  for (const { statement } of plans) expect(JSON.stringify(statement).length).toBeLessThan(15_000);
});

test('rolling windows over many days, ranges and cubes are refused', () => {
  const { code, message } = errorOf(model, rolling(repeat(10, ['2010-01-01', '2020-12-31'])));
  expect(code).toBe('unsupported_query');
  expect(message).toContain('shorter date ranges');
});

test('months are written one by one, and take more of the budget than days', () => {
  const by = (granularity: string, dateRange: string[]) => ({
    measures: ['orders.recent'],
    timeDimensions: [{ dimension: 'orders.at', granularity, dateRange }],
  });
  const days = by('day', ['2000-01-01', '2013-01-01']);
  const months = by('month', ['1700-01-01', '2099-12-31']);
  expect(planAll([days, days, months])).toHaveLength(3);
  expect(() => planAll([months, months])).toThrow('too large together');
});

test('the queries of a request share one budget', () => {
  const query = rolling([fiveYears, fiveYears]);
  expect(planAll([query])).toHaveLength(1);
  expect(() => planAll(repeat(20, query))).toThrow('too large together');
});

test('filters count for each compared range and each cube with measures', () => {
  const query = (count: number, ranges: number) => ({
    measures: CUBES.map((name) => `${name}.count`),
    timeDimensions: [{ dimension: 'orders.at', compareDateRange: repeat(ranges, fiveYears) }],
    filters: repeat(count, { member: 'orders.status', operator: 'set' }),
  });
  expect(planAll([query(500, 2)])).toHaveLength(1);
  expect(planAll(repeat(20, query(5, 2)))).toHaveLength(20);
  expect(errorOf(model, query(500, 10)).code).toBe('unsupported_query');
  expect(() => planAll(repeat(20, query(500, 2)))).toThrow('too large together');
});

test('values of filters count too', () => {
  const values = Array.from({ length: 10_000 }, (_, i) => `v${i}`);
  const query = {
    measures: ['orders.count', 'items.count'],
    filters: [{ member: 'orders.status', operator: 'equals', values }],
  };
  expect(planAll([query])).toHaveLength(1);
  expect(() => planAll(repeat(20, query))).toThrow('too large together');
});

test('so do filters and members of rows that are not grouped', () => {
  const filters = repeat(490, { member: 'orders.status', operator: 'set' });
  const query = { dimensions: ['orders.status'], filters, ungrouped: true };
  expect(planAll(repeat(20, query))).toHaveLength(20);
  expect(() => planAll(repeat(21, query))).toThrow('too large together');
});

test('a reference takes of the characters even if it writes nothing', () => {
  const budget = createPlanBudget({ characters: 1000 });
  for (let i = 0; i < 10; i++) expect(following(budget, () => i)).toBe(i);
  expect(() => following(budget, () => 10)).toThrow('too long');
});

test('members and joins refer to each other at most 250 deep, whatever the compiler lets through', () => {
  const budget = createPlanBudget();
  const deep = (levels: number): number => (levels ? following(budget, () => deep(levels - 1)) : 0);
  expect(deep(250)).toBe(0);
  expect(() => deep(251)).toThrow('more than 250 deep');
  // A member that refers to others afterwards begins at depth 0 again.
  expect(deep(250)).toBe(0);
});

test('selects in each other take of the characters for the spaces before their lines', () => {
  const nested = (levels: number): Select => ({
    columns: [{ name: 'a', sql: sql`1` }],
    from: { alias: 'b', of: levels ? { select: nested(levels - 1) } : { table: 't' } },
  });
  const budget = createPlanBudget();
  const before = budget.characters;
  const text = renderStatement(nested(100), duckdb, budget).sql;
  expect(before - budget.characters).toBeGreaterThan(text.length - text.replace(/^ +/gm, '').length);
});
