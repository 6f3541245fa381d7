import { describe, expect, test } from 'vitest';
import { withoutHidden } from './grid.tsx';
import {
  addFilter,
  compare,
  fillMissing,
  filteredMembers,
  queryFor,
  shifted,
  totalQuery,
  typed,
  valuesQuery,
} from './query.ts';
import type { Query } from './types.ts';

const KEY = 'orders.at.day';
const query = {
  measures: ['orders.count'],
  dimensions: ['orders.status'],
  timeDimensions: [{ dimension: 'orders.at', granularity: 'day' }],
};
const snapshot = { reportId: 1, fillMissingRows: { member: 'orders.at' } };
const row = (day: string | null, status: string) => ({
  [KEY]: day && `${day}T00:00:00.000`,
  'orders.at': day && `${day}T00:00:00.000`,
  'orders.status': status,
  'orders.count': 1,
});

test('days without rows get rows with zeroes', () => {
  expect(fillMissing([row('2024-01-01', 'new'), row('2024-01-03', 'new')], query, snapshot)).toEqual([
    row('2024-01-01', 'new'),
    { ...row('2024-01-02', 'new'), 'orders.count': 0 },
    row('2024-01-03', 'new'),
  ]);
});

test('rows stay as they came if too many would be added', () => {
  const few = Array.from({ length: 100 }, (_, i) => row(i ? '2024-12-31' : '2024-01-01', `s${i}`));
  // 366 days of 100 states, less the 100 that are there.
  expect(fillMissing(few, query, snapshot)).toHaveLength(36_600);
  const many = Array.from({ length: 150 }, (_, i) => row(i ? '2024-12-31' : '2024-01-01', `s${i}`));
  expect(fillMissing(many, query, snapshot)).toBe(many);
  const long = [row('0001-01-01', 'new'), row('2024-12-31', 'new')];
  expect(fillMissing(long, query, snapshot)).toBe(long);
});

test('rows stay as they came if one of them has no time', () => {
  const rows = [row('2024-01-01', 'new'), row(null, 'new')];
  expect(fillMissing(rows, query, snapshot)).toBe(rows);
});

test('numbers keep all their digits', () => {
  const shown = { title: '', shortTitle: '', type: 'number' };
  const annotation = {
    measures: { sum: shown },
    dimensions: { id: shown, name: { ...shown, type: 'string' } },
    timeDimensions: {},
  };
  const values = ['9007199254740993', '0.1234567890123456', '-0012.50', '0.000000000000000001', '1e3', null];
  const result = { query: {}, annotation, data: values.map((id) => ({ id, sum: '7', name: '7' })) };
  expect(typed(result).map(({ id }) => id)).toEqual([
    ...['9007199254740993', '0.1234567890123456'],
    ...[-12.5, 1e-18, 1000, null],
  ]);
  expect(typed(result)[0]).toMatchObject({ sum: 7, name: '7' });
});

test('the common time of queries that were asked together is no column', () => {
  const annotation = { measures: {}, dimensions: {}, timeDimensions: {} };
  const data = [{ 'orders.at.month': '2026-01-01T00:00:00.000', 'time.month': '2026-01-01T00:00:00.000' }];
  expect(typed({ query: {}, annotation, data })).toEqual([{ 'orders.at.month': '2026-01-01T00:00:00.000' }]);
  const shown = { title: '', shortTitle: '', type: 'time' };
  const own = { ...annotation, timeDimensions: { 'time.month': shown } };
  expect(typed({ query: {}, annotation: own, data })).toEqual(data);
});

const at = (range?: string | string[]): Query => ({
  timeDimensions: [{ dimension: 'orders.at', ...(range ? { dateRange: range } : {}) }],
});

test.each<[string, string | string[] | undefined, number, string, string[] | undefined]>([
  ['whole months', ['2024-02-01', '2024-02-29'], 1, 'month', ['2024-01-01', '2024-01-31']],
  ['years', ['2024-01-01', '2024-12-31'], 2, 'years', ['2022-01-01', '2022-12-31']],
  ['days', ['2024-03-01', '2024-03-02'], 2, 'days', ['2024-02-28', '2024-02-29']],
  ['hours, which dates do not have', ['2024-03-01', '2024-03-02'], 1, 'hour', undefined],
  ['no range', undefined, 1, 'month', undefined],
])('a query is moved to an earlier time by %s', (_name, range, amount, unit, moved) => {
  const earlier = shifted(at(range), 'orders.at', { amount, unit });
  expect(earlier?.timeDimensions?.[0]?.dateRange).toEqual(moved);
});

const NOV_18 = '2026-11-18T23:30:00Z';
test.each<[string, string, string | string[], number, string, string, string[]]>([
  ['this month', NOV_18, 'this month', 1, 'year', 'UTC', ['2025-11-01', '2025-11-18T23:30']],
  ['where it is tomorrow', NOV_18, 'this month', 1, 'year', 'Asia/Tokyo', ['2025-11-01', '2025-11-19T08:30']],
  ['today', NOV_18, 'today', 1, 'week', 'UTC', ['2026-11-11', '2026-11-11T23:30']],
  [
    'a range to today',
    NOV_18,
    ['2026-11-17', '2026-11-18'],
    7,
    'day',
    'UTC',
    ['2026-11-10', '2026-11-11T23:30'],
  ],
  ['all of February', '2026-03-31T10:00:00Z', 'this month', 1, 'month', 'UTC', ['2026-02-01', '2026-02-28']],
  ['a month that is over', NOV_18, 'last month', 1, 'year', 'UTC', ['2025-10-01', '2025-10-31']],
  ['a month to come', NOV_18, ['2026-12-01', '2026-12-31'], 1, 'year', 'UTC', ['2025-12-01', '2025-12-31']],
])(
  'as much of the earlier time as has passed of this one: %s',
  (_name, now, range, amount, unit, timezone, moved) => {
    const earlier = shifted({ ...at(range), timezone }, 'orders.at', { amount, unit }, new Date(now));
    expect(earlier?.timeDimensions?.[0]?.dateRange).toEqual(moved);
  },
);

test('rows are compared with those of the same group and time of an earlier period', () => {
  const bucket = (time: string | null, status: string, count: number | string) => ({
    'orders.at.hour': time,
    'orders.status': status,
    'orders.count': count,
  });
  const hours = { ...query, timeDimensions: [{ dimension: 'orders.at', granularity: 'hour' }] };
  const rows = [
    bucket('2024-03-02T05:00:00.000', 'new', 30),
    bucket('2024-03-02T06:00:00.000', 'new', 5),
    bucket('2024-03-02T05:00:00.000', 'old', 1),
    bucket(null, 'new', 1),
  ];
  const earlier = [
    bucket('2024-03-01T05:00:00.000', 'new', '20'),
    bucket('2024-03-01T06:00:00.000', 'new', 0),
    bucket(null, 'old', 9),
  ];
  const by = (unit: string, outputs?: string[]) =>
    compare(rows, earlier, hours, {
      measure: 'orders.count',
      timeDimension: 'orders.at',
      offset: { amount: 1, unit },
      ...(outputs ? { outputs } : {}),
    });
  const [previous, change, percent] = ['previous', 'change', 'percent'].map(
    (output) => `orders.count.${output}`,
  );
  expect(by('day').map((row) => [row[previous!], row[change!], row[percent!]])).toEqual([
    [20, 10, 0.5],
    [0, 5, null],
    [null, null, null],
    [null, null, null],
  ]);
  expect(by('day', ['change']).map((row) => previous! in row)).toEqual([false, false, false, false]);
  // A unit that is not known compares nothing.
  expect(by('hour').map((row) => row[previous!])).toEqual([null, null, null, null]);
});

test.each<[string, unknown, Query]>([
  ['equals', 'new', { filters: [{ member: 'orders.status', operator: 'equals', values: ['new'] }] }],
  [
    'not_equals',
    ['a', 1],
    { filters: [{ member: 'orders.status', operator: 'notEquals', values: ['a', '1'] }] },
  ],
  ['is_null', null, { filters: [{ member: 'orders.status', operator: 'notSet' }] }],
  ['is_not_empty', null, { filters: [{ member: 'orders.status', operator: 'notEquals', values: [''] }] }],
  [
    'between',
    [1, 2],
    {
      filters: [
        { member: 'orders.status', operator: 'gte', values: ['1'] },
        { member: 'orders.status', operator: 'lte', values: ['2'] },
      ],
    },
  ],
  ['equals', null, { filters: [] }],
  ['drop table', 'x', { filters: [] }],
])('the filter %s %j', (operator, value, expected) => {
  const filtered: Query = {};
  addFilter(filtered, 'orders.status', { operator, value } as never);
  expect(filtered).toEqual(expected);
});

test('a filter on the time of a query is its range', () => {
  const filtered = at('last week');
  addFilter(filtered, 'orders.at', { operator: 'between', value: ['2024-01-01', '2024-01-31'] });
  expect(filtered).toEqual(at(['2024-01-01', '2024-01-31']));
  addFilter(filtered, 'orders.at', { operator: 'equals', value: null });
  expect(filtered).toEqual(at(['2024-01-01', '2024-01-31']));
});

test('a total has the measures and the conditions of its query, and not its rows', () => {
  const query = {
    measures: ['a.sum'],
    dimensions: ['a.name'],
    timeDimensions: [{ dimension: 'a.at', granularity: 'month', dateRange: 'last year' }],
    filters: [
      { or: [{ member: 'a.name', operator: 'set' }, { and: [{ member: 'a.sum', operator: 'set' }] }] },
    ],
    segments: ['a.done'],
    order: { 'a.sum': 'desc' },
    limit: 5,
    timezone: 'Asia/Tokyo',
  };
  const { dimensions: _dimensions, order: _order, limit: _limit, ...rest } = query;
  const timeDimensions = [{ dimension: 'a.at', dateRange: 'last year' }];
  expect(totalQuery(query)).toEqual({ ...rest, timeDimensions });
  expect(filteredMembers(query.filters)).toEqual(['a.name', 'a.sum']);
  expect(totalQuery({ dimensions: ['a.name'] })).toBeUndefined();
});

describe('a click on a mark of another chart', () => {
  const crossFilters = new Map([
    [
      'months',
      {
        narrowings: [
          { member: 'sales.ordered_at', range: ['2026-03-01', '2026-03-31'] as [string, string] },
          { member: 'sales.status', value: null },
          { member: 'stock.place', value: 'Kiel' },
        ],
      },
    ],
  ]);
  const asked = (query: Query, widgetId = 'other') =>
    queryFor(
      { reportId: 1, meta: { query } },
      widgetId,
      {
        ...{ filters: new Map(), grains: new Map(), timezone: undefined, crossFilters },
        askedAt: new Date('2026-03-20T12:00:00Z'),
      },
      [],
    );
  const time = { dimension: 'sales.ordered_at' };
  const isNull = { member: 'sales.status', operator: 'notSet' };

  test('keeps what is in it, of charts about the same data', () => {
    expect(asked({ measures: ['sales.count'] })).toEqual({
      measures: ['sales.count'],
      timeDimensions: [{ ...time, dateRange: ['2026-03-01', '2026-03-31'] }],
      filters: [isNull],
    });
    expect(asked({ measures: ['customers.count'] })).toEqual({ measures: ['customers.count'] });
    expect(asked({ measures: ['sales.count'] }, 'months')).toEqual({ measures: ['sales.count'] });
  });

  test.each([
    [
      ['2026-03-10', '2026-04-20'],
      ['2026-03-10', '2026-03-31'],
    ],
    ['last 10 days', ['2026-03-10', '2026-03-19']],
  ])('shows no more than the range %j has', (dateRange, common) => {
    const query = { measures: ['sales.count'], timeDimensions: [{ ...time, dateRange }] };
    expect(asked(query)).toMatchObject({ timeDimensions: [{ dateRange: common }], filters: [isNull] });
  });

  test.each(['from 3 weeks ago to now', ['2026-01-01', '2026-01-31'], ['2026-03-05T08:00:00', '2026-04-01']])(
    'leaves it to the server what is in both it and %j',
    (dateRange) => {
      const query = { measures: ['sales.count'], timeDimensions: [{ ...time, dateRange }] };
      const both = {
        member: 'sales.ordered_at',
        operator: 'inDateRange',
        values: ['2026-03-01', '2026-03-31'],
      };
      expect(asked(query)).toMatchObject({ timeDimensions: [{ dateRange }], filters: [both, isNull] });
    },
  );
});

describe('a control', () => {
  const control = (config: object) => ({
    ...{ id: 'control', type: 'FILTER' as const, position: { x: 0, y: 0, w: 1, h: 1 } },
    config: { member: 'people.state', ...config },
  });
  const chart = { reportId: 1, meta: { query } };
  const filters = new Map([['people.state', { operator: 'equals', value: ['new'] }]]);
  const reached = (config: object) =>
    queryFor(chart, 'chart', { filters, grains: new Map(), timezone: undefined }, [control(config)]).filters;

  test('reaches charts about other data by the field that its author chose, and only those', () => {
    const byStatus = [{ member: 'orders.status', operator: 'equals', values: ['new'] }];
    expect(reached({})).toBeUndefined();
    expect(reached({ mapping: { chart: 'orders.status' } })).toEqual(byStatus);
    expect(reached({ mapping: { other: 'orders.status' } })).toBeUndefined();
    expect(reached({ member: 'people.state', widgets: ['chart'] })).toHaveLength(1);
    expect(reached({ widgets: ['chart'], mapping: { chart: null } })).toBeUndefined();
  });

  test('that is faceted offers what exists together with the other controls of the view', () => {
    const others = new Map([
      ...filters,
      ['people.name', { operator: 'contains', value: ['a'] }],
      ['orders.status', { operator: 'equals', value: ['new'] }],
    ]);
    const asked = (config: object) =>
      valuesQuery(control(config), { filters: others, timezone: undefined }, 10).filters;
    expect(asked({})).toBeUndefined();
    expect(asked({ faceted: true })).toEqual([
      { member: 'people.name', operator: 'contains', values: ['a'] },
    ]);
  });
});

test('rows of hidden controls are gone, and those that hold something else are not', () => {
  const at = (id: string, y: number, config: object = {}) => ({
    widget: { id, type: 'FILTER' as const, position: { x: 0, y, w: 1, h: 1 }, config },
    at: { x: 0, y, w: 1, h: 1 },
  });
  const hidden = { visibility: 'hidden' };
  const placed = withoutHidden([at('a', 0, hidden), at('b', 1), at('c', 1, hidden), at('d', 4)]);
  expect(placed.map(({ widget, at }) => [widget.id, at.y])).toEqual([
    ['b', 0],
    ['d', 3],
  ]);
});
