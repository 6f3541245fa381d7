import { expect, test } from 'vitest';
import { drillFrom } from './drill-query.ts';

/** Granularities of the model. Answers say how long they are. */
const INTERVALS: Record<string, string> = {
  fiscal_year: '1 year',
  sprint: '2 weeks',
  shift: '8 hours',
  ninety: '1 hour 30 minute',
  odd: '3 moons',
};

const drilled = (granularity: string, time: unknown, row: object = {}) =>
  drillFrom({
    ...{ widgetId: 'w', title: 'T', member: 'orders.count', value: 1 },
    annotation: {
      measures: {},
      dimensions: {},
      timeDimensions: {
        [`orders.at.${granularity}`]: {
          ...{ title: 'At', shortTitle: 'At', type: 'time' },
          ...(INTERVALS[granularity]
            ? { granularity: { name: granularity, interval: INTERVALS[granularity] } }
            : {}),
        },
      },
    },
    row: { [`orders.at.${granularity}`]: time, ...row },
    query: {
      dimensions: ['orders.id'],
      timeDimensions: [{ dimension: 'orders.at', granularity, dateRange: ['2024-01-01', '2025-12-31'] }],
    },
  }).query;

test.each([
  ['month', '2024-02-01T00:00:00.000', ['2024-02-01', '2024-02-29']],
  ['month', Date.UTC(2024, 1), ['2024-02-01', '2024-02-29']],
  ['day', '2024-02-01T00:00:00.000', ['2024-02-01', '2024-02-01']],
  ['hour', '2024-02-01T23:00:00.000', ['2024-02-01T23:00:00', '2024-02-01T23:59:59']],
  ['minute', '2024-02-01T23:07:00.000', ['2024-02-01T23:07:00', '2024-02-01T23:07:59']],
  ['second', '2024-02-01T23:07:09.000', ['2024-02-01T23:07:09', '2024-02-01T23:07:09']],
  ['fiscal_year', '2024-02-01T00:00:00.000', ['2024-02-01', '2025-01-31']],
  ['sprint', '2024-02-26T00:00:00.000', ['2024-02-26', '2024-03-10']],
  ['sprint', '2024-02-26T08:30:00.000', ['2024-02-26T08:30:00', '2024-03-11T08:29:59']],
  ['shift', '2024-02-01T22:00:00.000', ['2024-02-01T22:00:00', '2024-02-02T05:59:59']],
  ['ninety', '2024-02-01T22:30:00.000', ['2024-02-01T22:30:00', '2024-02-01T23:59:59']],
  ['odd', '2024-02-01T00:00:00.000', ['2024-01-01', '2025-12-31']],
  ['day', null, ['2024-01-01', '2025-12-31']],
  // What is not in the range of the query is not in its bucket either.
  ['week', '2023-12-31T00:00:00.000', ['2024-01-01', '2024-01-06']],
  ['year', '2025-07-01T00:00:00.000', ['2025-07-01', '2025-12-31']],
])('the rows behind a %s', (granularity, time, dateRange) => {
  expect(drilled(granularity, time).timeDimensions).toEqual([{ dimension: 'orders.at', dateRange }]);
});

test.each([
  ['9007199254740993', { member: 'orders.id', operator: 'equals', values: ['9007199254740993'] }],
  [null, { member: 'orders.id', operator: 'notSet' }],
])('the rows behind %j', (id, filter) => {
  expect(drilled('day', null, { 'orders.id': id }).filters).toEqual([filter]);
});
