import { describe, expect, test } from 'vitest';
import { claim, cronOf, nextDue, type Timing, toTiming, wordsFor } from './schedule.ts';

const timing = (given: Partial<Timing>): Timing => ({
  scheduleType: 'CUSTOM',
  minute: null,
  hour: null,
  dayOfWeek: null,
  dayOfMonth: null,
  customCron: null,
  timezone: 'UTC',
  ...given,
});
const cron = (customCron: string, timezone: string) => timing({ customCron, timezone });

function runs(given: Timing, from: string, to: string): string[] {
  const found: string[] = [];
  for (let at = nextDue(given, new Date(from)); at && at < new Date(to); at = nextDue(given, at))
    found.push(at.toISOString().slice(0, 16));
  return found;
}

describe('when clocks change', () => {
  // Berlin goes from 02:00 to 03:00 at 01:00 UTC, and in autumn from 03:00 to 02:00 at 01:00 UTC.
  const spring = ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'] as const;
  const autumn = ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'] as const;
  test.each([
    ['30 2 * * *', spring, ['2026-03-29T01:00']],
    ['0,30 2 * * *', spring, ['2026-03-29T01:00']],
    ['0 2,3 * * *', spring, ['2026-03-29T01:00']],
    ['30 2 * * *', autumn, ['2026-10-25T00:30']],
    ['0,30 2 * * *', autumn, ['2026-10-25T00:00', '2026-10-25T00:30']],
    ['*/30 2 * * *', autumn, ['2026-10-25T00:00', '2026-10-25T00:30']],
    ['0 3 * * *', autumn, ['2026-10-25T02:00']],
  ])('%s in Berlin', (pattern, [from, to], expected) => {
    expect(runs(cron(pattern, 'Europe/Berlin'), from, to)).toEqual(expected);
  });

  test('every hour means every hour: 23 and 25 of them', () => {
    expect(
      runs(cron('0 * * * *', 'Europe/Berlin'), '2026-03-28T22:59:00Z', '2026-03-29T22:00:00Z'),
    ).toHaveLength(23);
    expect(
      runs(cron('0 * * * *', 'Europe/Berlin'), '2026-10-24T21:59:00Z', '2026-10-25T23:00:00Z'),
    ).toHaveLength(25);
  });

  test('a day without midnight in Cairo, and half an hour that Lord Howe skips and repeats', () => {
    const cairo = timing({ scheduleType: 'DAILY', minute: 0, hour: 0, timezone: 'Africa/Cairo' });
    expect(runs(cairo, '2026-04-22T22:30:00Z', '2026-04-25T00:00:00Z')).toEqual([
      '2026-04-23T22:00',
      '2026-04-24T21:00',
    ]);
    const howe = cron('15 2 * * *', 'Australia/Lord_Howe');
    expect(runs(howe, '2026-10-03T00:00:00Z', '2026-10-05T00:00:00Z')).toEqual([
      '2026-10-03T15:30',
      '2026-10-04T15:15',
    ]);
    const twice = cron('45 1 * * *', 'Australia/Lord_Howe');
    expect(runs(twice, '2026-04-04T00:00:00Z', '2026-04-05T12:00:00Z')).toEqual(['2026-04-04T14:45']);
  });
});

test('a day that a month lacks is its last', () => {
  const on = (dayOfMonth: number) =>
    runs(
      timing({ scheduleType: 'MONTHLY', minute: 0, hour: 9, dayOfMonth }),
      '2027-01-01T00:00:00Z',
      '2027-05-01T00:00:00Z',
    );
  expect(on(31)).toEqual(['2027-01-31T09:00', '2027-02-28T09:00', '2027-03-31T09:00', '2027-04-30T09:00']);
  expect(on(30)).toEqual(['2027-01-30T09:00', '2027-02-28T09:00', '2027-03-30T09:00', '2027-04-30T09:00']);
  expect(on(5)).toEqual(['2027-01-05T09:00', '2027-02-05T09:00', '2027-03-05T09:00', '2027-04-05T09:00']);
});

test('Monday at 00:15 in Berlin stays Monday, whatever day that is in UTC', () => {
  const weekly = timing({
    scheduleType: 'WEEKLY',
    minute: 15,
    hour: 0,
    dayOfWeek: 1,
    timezone: 'Europe/Berlin',
  });
  expect(runs(weekly, '2026-11-18T00:00:00Z', '2026-12-01T00:00:00Z')).toEqual([
    '2026-11-22T23:15',
    '2026-11-29T23:15',
  ]);
  expect(cronOf(weekly)).toBe('15 0 * * 1');
  expect(wordsFor(weekly, 'en-US')).toBe('At 00:15, only on Monday');
  expect(wordsFor(weekly, 'de-AT')).toContain('Montag');
  expect(wordsFor(weekly, 'xx')).toBe('At 00:15, only on Monday');
});

test.each([
  [{ scheduleType: 'CUSTOM', customCron: '0 0 30 2 *' }, 'customCron: is never due'],
  [{ scheduleType: 'CUSTOM', customCron: '0 0 31 2,4 *' }, 'customCron: is never due'],
  [{ scheduleType: 'CUSTOM', customCron: '*/1 * * * * *' }, 'customCron: must have five fields'],
  [{ scheduleType: 'CUSTOM', customCron: '@daily' }, 'customCron: must have five fields'],
  [{ scheduleType: 'CUSTOM', customCron: '60 * * * *' }, 'customCron: is not a pattern'],
  [{ scheduleType: 'CUSTOM', customCron: '' }, 'customCron: must have five fields'],
  [{ scheduleType: 'CUSTOM' }, 'customCron: is needed for CUSTOM'],
  [{ scheduleType: 'CUSTOM', customCron: '0 9 * * *', hour: 3 }, 'hour: does not belong to CUSTOM'],
  [{ scheduleType: 'HOURLY', hour: 3 }, 'hour: does not belong to HOURLY'],
  [{ scheduleType: 'DAILY' }, 'hour: is needed for DAILY'],
  [{ scheduleType: 'WEEKLY', hour: 9 }, 'dayOfWeek: is needed for WEEKLY'],
  [
    { scheduleType: 'MONTHLY', hour: 9, dayOfWeek: 1, dayOfMonth: 1 },
    'dayOfWeek: does not belong to MONTHLY',
  ],
  [{ scheduleType: 'HOURLY', timezone: 'Mars/Olympus' }, 'timezone: must be an IANA zone'],
  [{ scheduleType: 'HOURLY', timezone: '+02:00' }, 'timezone: must be an IANA zone'],
] as const)('%o is refused', (given, message) => {
  expect(() => toTiming(given, undefined, 'UTC')).toThrow(message);
});

test('what was missed for less than an hour runs once, and the rest is recorded', () => {
  const hourly = timing({ scheduleType: 'HOURLY', minute: 0 });
  const at = (text: string) => new Date(`2026-11-18T${text}:00Z`);
  expect(claim(hourly, at('09:00'), at('09:00'))).toEqual({
    run: at('09:00'),
    missed: null,
    next: at('10:00'),
  });
  expect(claim(hourly, at('09:00'), at('12:30'))).toEqual({
    run: at('12:00'),
    missed: { first: at('09:00'), count: 3 },
    next: at('13:00'),
  });
  const daily = timing({ scheduleType: 'DAILY', minute: 0, hour: 9 });
  const next = new Date('2026-11-19T09:00:00Z');
  expect(claim(daily, at('09:00'), at('09:59'))).toEqual({ run: at('09:00'), missed: null, next });
  expect(claim(daily, at('09:00'), at('10:00'))).toEqual({
    run: null,
    missed: { first: at('09:00'), count: 1 },
    next,
  });
});
