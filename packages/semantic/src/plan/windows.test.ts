/** Rolling windows, counted again by plain loops over the rows. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Engine, openDuckDb } from '../../test/engines.ts';
import { errorOf, modelOf, planOf } from '../../test/plans.ts';

const WINDOWS = {
  days: '{ trailing: 2 day }',
  month: '{ trailing: 1 month }',
  until: '{ trailing: unbounded, offset: end }',
  after: '{ leading: 1 month, offset: start }',
  ages: '{ trailing: 3000 year, leading: 9000 year }',
};
const model = modelOf(`cubes:
  - name: events
    sql_table: events
    dimensions:
      - { name: id, sql: id, type: number, primary_key: true }
      - { name: number, sql: id, type: number }
      - { name: at, sql: at, type: time }
      - { name: seen, sql: at, type: time }
    measures:
${Object.entries(WINDOWS)
  .map(([name, window]) => `      - { name: ${name}, type: count, rolling_window: ${window} }\n`)
  .join('')}`);

/** One on each day from 2023-12-01 on. */
const DAYS = Array.from({ length: 120 }, (_, i) => Date.UTC(2023, 11, 1 + i, 12));

let engine: Engine;
beforeAll(async () => {
  engine = await openDuckDb();
  await engine.run(
    "create table events as select i as id, timestamp '2023-12-01 12:00:00' + i * interval '1 day' as at from range(120) t(i)",
  );
});
afterAll(() => engine.close());

const rolling = (measure: string, granularity: string | undefined, dateRange: string[]) => ({
  measures: [`events.${measure}`],
  timeDimensions: [{ dimension: 'events.at', granularity, dateRange }],
});
const countsOf = async (measure: string, granularity: string | undefined, dateRange: string[]) => {
  const { statement } = planOf(model, rolling(measure, granularity, dateRange));
  return (await engine.rows(statement)).map((row) => Number(row.at(-1)));
};
const between = (from: number, to: number) => DAYS.filter((at) => at >= from && at < to).length;
const day = (month: number, date: number) => Date.UTC(2024, month - 1, date);

test('a window of days or months before each day', async () => {
  // Months end on days that other months do not have.
  const dates = Array.from({ length: 12 }, (_, i) => [i < 6 ? 2 : 3, i < 6 ? 24 + i : i - 5] as const);
  const range = ['2024-02-24', '2024-03-06'];
  expect(await countsOf('days', 'day', range)).toEqual(dates.map(() => 2));
  expect(await countsOf('month', 'day', range)).toEqual(
    dates.map(([month, date]) => {
      const end = new Date(day(month, date + 1));
      const before = day(end.getUTCMonth(), end.getUTCDate());
      return between(before, end.getTime());
    }),
  );
});

test('a window of all rows before the end of each month, and of those of the month after its beginning', async () => {
  const range = ['2024-01-01', '2024-03-31'];
  expect(await countsOf('until', 'month', range)).toEqual(
    [2, 3, 4].map((month) => between(0, day(month, 1))),
  );
  expect(await countsOf('after', 'month', range)).toEqual([31, 29, 29]);
});

test('without a granularity, the range is one period', async () => {
  expect(await countsOf('days', undefined, ['2024-01-10', '2024-01-20'])).toEqual([2]);
});

test('filters apply to all rows of a window, and its date range to none of them', async () => {
  const query = {
    ...rolling('until', 'month', ['2024-01-01', '2024-02-29']),
    filters: [{ member: 'events.number', operator: 'gte', values: [10] }],
  };
  const rows = await engine.rows(planOf(model, query).statement);
  expect(rows.map((row) => Number(row.at(-1)))).toEqual([62 - 10, 91 - 10]);
});

test('a window may reach beyond all times that there are', async () => {
  const range = ['2024-01-10', '2024-01-12'];
  expect(await countsOf('ages', 'day', range)).toEqual([120, 120, 120]);
  // Not every database can add days to what is infinite.
  expect(planOf(model, rolling('ages', 'day', range)).statement.sql).not.toContain('unnest(');
  expect(planOf(model, rolling('days', 'day', range)).statement.sql).toContain('unnest(');
});

test.each<[string, object, string]>([
  ['no date range', { measures: ['events.days'] }, 'needs one time dimension with a date range'],
  [
    'two date ranges',
    {
      measures: ['events.days'],
      timeDimensions: ['at', 'seen'].map((name) => ({ dimension: `events.${name}`, dateRange: 'today' })),
    },
    'needs one time dimension with a date range',
  ],
  [
    'two granularities',
    { ...rolling('days', 'day', ['2024-01-01', '2024-01-31']), dimensions: ['events.at.month'] },
    'needs this time dimension in one granularity only',
  ],
  ['more than 5000 periods', rolling('days', 'hour', ['2024-01-01', '2024-12-31']), 'at most 5000 periods'],
  [
    'rows that are not grouped',
    { ...rolling('days', 'day', ['2024-01-01', '2024-01-31']), ungrouped: true },
    'has no value for a single row',
  ],
])('a rolling window is refused with %s', (_, query, message) => {
  expect(errorOf(model, query).message).toContain(message);
});
