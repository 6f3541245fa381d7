import { expect, test } from 'vitest';
import { addInterval, nextPeriod, periodsOf, startOfPeriod } from './calendar.ts';
import { readMoment, writeInstant } from './moments.ts';
import { createNow, type RangeText, readRange } from './ranges.ts';
import { findZone, UTC } from './zones.ts';

const BERLIN = findZone('Europe/Berlin')!;
/** A Tuesday. */
const NOW = Date.parse('2024-04-02T10:15:30Z');

const rangeOf = (text: RangeText, zone = UTC, nowMs = NOW) => {
  const span = readRange(text, { zone, now: createNow(nowMs) });
  return span && [span.from, span.to].map((at) => writeInstant(at).replace(/(:00)?\.000000Z$/, ''));
};

test.each<[RangeText, string, string]>([
  ['today', '2024-04-02T00:00', '2024-04-03T00:00'],
  ['Yesterday', '2024-04-01T00:00', '2024-04-02T00:00'],
  ['tomorrow', '2024-04-03T00:00', '2024-04-04T00:00'],
  ['this week', '2024-04-01T00:00', '2024-04-08T00:00'],
  ['last week', '2024-03-25T00:00', '2024-04-01T00:00'],
  ['this month', '2024-04-01T00:00', '2024-05-01T00:00'],
  ['last month', '2024-03-01T00:00', '2024-04-01T00:00'],
  ['next month', '2024-05-01T00:00', '2024-06-01T00:00'],
  ['this quarter', '2024-04-01T00:00', '2024-07-01T00:00'],
  ['last quarter', '2024-01-01T00:00', '2024-04-01T00:00'],
  ['this year', '2024-01-01T00:00', '2025-01-01T00:00'],
  ['last 7 days', '2024-03-26T00:00', '2024-04-02T00:00'],
  ['last  2   weeks', '2024-03-18T00:00', '2024-04-01T00:00'],
  ['next 3 days', '2024-04-03T00:00', '2024-04-06T00:00'],
  ['last 6 hours', '2024-04-02T04:00', '2024-04-02T10:00'],
  ['this minute', '2024-04-02T10:15', '2024-04-02T10:16'],
  ['from 7 days ago to now', '2024-03-26T00:00', '2024-04-03T00:00'],
  ['from 2 hours ago to now', '2024-04-02T08:00', '2024-04-02T11:00'],
  ['from yesterday to 1 month from now', '2024-04-01T00:00', '2024-05-03T00:00'],
  ['from 2024-01-01 to today', '2024-01-01T00:00', '2024-04-03T00:00'],
  ['2024-02-29', '2024-02-29T00:00', '2024-03-01T00:00'],
  [['2024-02-29'], '2024-02-29T00:00', '2024-03-01T00:00'],
  [['2024-01-01', '2024-01-31'], '2024-01-01T00:00', '2024-02-01T00:00'],
  [['2024-01-01T10:00', '2024-01-01T12:30'], '2024-01-01T10:00', '2024-01-01T12:31'],
  [['2024-01-01T00:00:00.000', '2024-01-31T23:59:59.999'], '2024-01-01T00:00', '2024-02-01T00:00'],
  [
    ['2024-01-01T00:00:00+02:00', '2024-01-01T00:00:00.000001Z'],
    '2023-12-31T22:00',
    '2024-01-01T00:00:00.000002Z',
  ],
  [['yesterday', 'today'], '2024-04-01T00:00', '2024-04-03T00:00'],
  ['9999-12-31', '9999-12-31T00:00', 'infinity'],
  ['last 99999 years', '-infinity', '2024-01-01T00:00'],
])('%j is a range', (text, from, to) => {
  expect(rangeOf(text)).toEqual([from, to]);
});

test.each<RangeText>([
  '',
  'last',
  'last 0 days',
  'last -1 days',
  'last 1000000 days',
  'last 7 dayss',
  '2024-02-30',
  '2024-13-01',
  '24-01-01',
  '2024-01-01T24:00',
  '2024-01-01T10:60',
  '2024-01-01T10:00:00.1234567',
  '2024-01-01T10:00+99:00',
  '0000-01-01',
  'from a to b',
  [],
  ['2024-01-01', '2024-01-02', '2024-01-03'],
])('%j is no range', (text) => {
  expect(rangeOf(text)).toBeUndefined();
});

test('days begin and end by the clocks of the zone, also when clocks change', () => {
  expect(rangeOf('2024-03-31', BERLIN)).toEqual(['2024-03-30T23:00', '2024-03-31T22:00']);
  expect(rangeOf('2024-10-27', BERLIN)).toEqual(['2024-10-26T22:00', '2024-10-27T23:00']);
  // At 00:30 in Berlin, it is still yesterday in UTC.
  expect(rangeOf('today', BERLIN, Date.parse('2024-04-01T22:30:00Z'))).toEqual([
    '2024-04-01T22:00',
    '2024-04-02T22:00',
  ]);
});

test('hours are counted as they pass while clocks change', () => {
  const second = Date.parse('2024-10-27T01:30:00Z');
  expect(rangeOf('this hour', BERLIN, second)).toEqual(['2024-10-27T01:00', '2024-10-27T02:00']);
  expect(rangeOf('last 2 hours', BERLIN, second)).toEqual(['2024-10-26T23:00', '2024-10-27T01:00']);
});

test('a local time that clocks show twice is the first one, and one that they leave out is the next one', () => {
  const instant = (text: string, zone = BERLIN) => writeInstant(readMoment(text, zone)!.from).slice(0, 16);
  expect(instant('2024-10-27T02:30')).toBe('2024-10-27T00:30');
  expect(instant('2024-03-31T02:30')).toBe('2024-03-31T01:30');
  // Clocks in Beirut went from midnight to one.
  expect(instant('2024-03-31', findZone('Asia/Beirut')!)).toBe('2024-03-30T22:00');
});

test.each(['', 'nowhere', '+01:00', "UTC'; drop table x; --", 'a'.repeat(1000)])(
  '%j is no time zone',
  (name) => {
    expect(findZone(name)).toBeUndefined();
  },
);

const local = (text: string) => Date.parse(`${text}Z`);
const show = (ms: number) => new Date(ms).toISOString().slice(0, 16);

test('periods follow each other from their origin, before and after it', () => {
  const periods = (more: object) =>
    periodsOf({
      name: 'x',
      title: undefined,
      interval: [{ count: 1, unit: 'month' }],
      offset: undefined,
      origin: undefined,
      ...more,
    })!;
  const sprint = periods({ interval: [{ count: 2, unit: 'week' }], origin: '2024-01-03' });
  expect(show(startOfPeriod(local('2024-01-02T23:59'), sprint))).toBe('2023-12-20T00:00');
  expect(show(startOfPeriod(local('2024-01-17T00:00'), sprint))).toBe('2024-01-17T00:00');
  const shifted = periods({ origin: '2024-01-16' });
  expect(show(startOfPeriod(local('2024-03-15T23:59'), shifted))).toBe('2024-02-16T00:00');
  expect(show(nextPeriod(local('2024-02-16T00:00'), shifted))).toBe('2024-03-16T00:00');
  const fiscal = periods({ interval: [{ count: 1, unit: 'year' }], offset: [{ count: -2, unit: 'month' }] });
  expect(show(startOfPeriod(local('2024-10-31T00:00'), fiscal))).toBe('2023-11-01T00:00');
  expect(
    periodsOf({
      name: 'x',
      title: undefined,
      interval: [
        { count: 1, unit: 'month' },
        { count: 1, unit: 'day' },
      ],
      offset: undefined,
      origin: undefined,
    }),
  ).toBeUndefined();
});

test('a month after the last day of a month is the last day of the next one', () => {
  expect(show(addInterval(local('2024-01-31T10:30'), [{ count: 1, unit: 'month' }]))).toBe(
    '2024-02-29T10:30',
  );
  expect(show(addInterval(local('2024-03-31T10:30'), [{ count: 1, unit: 'quarter' }], -1))).toBe(
    '2023-12-31T10:30',
  );
});

test.each<[RangeText, string]>([
  [['2024-01-01', '2024-01-31'], 'always'],
  ['2024-01-31', 'always'],
  ['last 7 days', '2024-04-02T10:16:00.000Z'],
  ['this minute', '2024-04-02T10:16:00.000Z'],
  ['last 3 seconds', '2024-04-02T10:15:31.000Z'],
  ['from 2 days ago to now', '2024-04-02T10:16:00.000Z'],
  ['from 30 seconds ago to now', '2024-04-02T10:15:31.000Z'],
  [['2024-01-01', 'today'], '2024-04-02T10:16:00.000Z'],
])('the range %s stays the same until %s', (text, until) => {
  const now = createNow(NOW);
  readRange(text, { zone: BERLIN, now });
  const { sameUntilMs } = now;
  expect(sameUntilMs === Number.POSITIVE_INFINITY ? 'always' : new Date(sameUntilMs).toISOString()).toBe(
    until,
  );
});

test('until a range says that it changes, it is the same in every time zone, also while clocks change', () => {
  const zones = ['Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/St_Johns'];
  const texts = [
    'this hour',
    'today',
    'last 2 months',
    'from 3 hours ago to now',
    'from 200 days ago to now',
  ];
  for (const start of ['2024-03-31T00:58:10Z', '2024-10-27T00:59:59.500Z', '2024-04-06T14:29:30Z']) {
    for (const zone of zones.map((name) => findZone(name)!)) {
      for (const text of texts) {
        const nowMs = Date.parse(start);
        const now = createNow(nowMs);
        const span = readRange(text, { zone, now });
        const last = { zone, now: createNow(now.sameUntilMs - 1) };
        expect(readRange(text, last)).toEqual(span);
      }
    }
  }
});
