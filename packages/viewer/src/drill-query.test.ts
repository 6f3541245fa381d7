import { expect, test } from 'vitest';
import { drillFrom } from './drill-query.ts';

const drilled = (granularity: string, time: unknown, row: object = {}) =>
  drillFrom({
    ...{ widgetId: 'w', title: 'T', member: 'orders.count', value: 1 },
    annotation: { measures: {}, dimensions: {}, timeDimensions: {} },
    row: { [`orders.at.${granularity}`]: time, ...row },
    query: {
      dimensions: ['orders.id'],
      timeDimensions: [{ dimension: 'orders.at', granularity, dateRange: 'last year' }],
    },
  }).query;

test.each([
  ['month', '2024-02-01T00:00:00.000', ['2024-02-01', '2024-02-29']],
  ['month', Date.UTC(2024, 1), ['2024-02-01', '2024-02-29']],
  ['day', '2024-02-01T00:00:00.000', ['2024-02-01', '2024-02-01']],
  ['hour', '2024-02-01T23:00:00.000', ['2024-02-01T23:00', '2024-02-01T23:59']],
  ['minute', '2024-02-01T23:07:00.000', ['2024-02-01T23:07', '2024-02-01T23:07']],
  ['fiscal_year', '2024-02-01T00:00:00.000', 'last year'],
  ['day', null, 'last year'],
])('the rows behind a %s', (granularity, time, dateRange) => {
  expect(drilled(granularity, time).timeDimensions).toEqual([{ dimension: 'orders.at', dateRange }]);
});

test.each([
  ['9007199254740993', { member: 'orders.id', operator: 'equals', values: ['9007199254740993'] }],
  [null, { member: 'orders.id', operator: 'notSet' }],
])('the rows behind %j', (id, filter) => {
  expect(drilled('day', null, { 'orders.id': id }).filters).toEqual([filter]);
});
