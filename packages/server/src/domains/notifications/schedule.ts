/**
 * When notifications are due. A schedule is wall time in a zone: patterns are matched against wall time, and each match
 * becomes a moment as late as possible, so that changes of the clock neither skip nor repeat it.
 */
import { Cron } from 'croner';
import descriptions from 'cronstrue/i18n.js';
import { invalid } from '../../platform/errors.ts';

export interface Timing {
  scheduleType: 'HOURLY' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'CUSTOM';
  minute: number | null;
  hour: number | null;
  dayOfWeek: number | null;
  dayOfMonth: number | null;
  customCron: string | null;
  timezone: string;
}

export const TIMING_FIELDS = ['minute', 'hour', 'dayOfWeek', 'dayOfMonth', 'customCron'] as const;
type TimingField = (typeof TIMING_FIELDS)[number];

const TAKES: Record<Timing['scheduleType'], readonly TimingField[]> = {
  HOURLY: ['minute'],
  DAILY: ['minute', 'hour'],
  WEEKLY: ['minute', 'hour', 'dayOfWeek'],
  MONTHLY: ['minute', 'hour', 'dayOfMonth'],
  CUSTOM: ['customCron'],
};

export type TimingInput = { [Field in TimingField]?: Timing[Field] | undefined } & {
  scheduleType?: Timing['scheduleType'] | null | undefined;
  timezone?: string | null | undefined;
};

/** The schedule that a request asks for. Throws a 400 if it is wrong or never due. */
export function toTiming(given: TimingInput, before: Timing | undefined, defaultZone: string): Timing {
  const scheduleType = given.scheduleType ?? before!.scheduleType;
  const takes = TAKES[scheduleType];
  for (const field of TIMING_FIELDS) {
    if (given[field] != null && !takes.includes(field))
      throw invalid(field, `does not belong to ${scheduleType}`, 'invalid_schedule');
  }
  const kept = before?.scheduleType === scheduleType ? before : undefined;
  const wanted = <Field extends TimingField>(field: Field) =>
    takes.includes(field) ? (given[field] ?? kept?.[field] ?? null) : null;
  const timing: Timing = {
    scheduleType,
    minute: takes.includes('minute') ? (wanted('minute') ?? 0) : null,
    hour: wanted('hour'),
    dayOfWeek: wanted('dayOfWeek'),
    dayOfMonth: wanted('dayOfMonth'),
    customCron: wanted('customCron')?.trim().replace(/\s+/g, ' ') ?? null,
    timezone: given.timezone ?? before?.timezone ?? defaultZone,
  };
  for (const field of takes)
    if (timing[field] === null) throw invalid(field, `is needed for ${scheduleType}`, 'invalid_schedule');
  requireZone(timing.timezone);
  requireDue(timing);
  return timing;
}

function requireZone(zone: string) {
  if (!isZone(zone))
    throw invalid('timezone', 'must be an IANA zone, such as Europe/Berlin', 'invalid_schedule');
}

export function isZone(zone: string): boolean {
  try {
    return /^[A-Za-z]/.test(zone) && !!new Intl.DateTimeFormat('en', { timeZone: zone });
  } catch {
    return false;
  }
}

/** Only what every cron knows, so that the pattern means elsewhere what it means here. */
const FIELD = /^[0-9A-Za-z*,/-]+$/;

function requireDue(timing: Timing) {
  const { customCron } = timing;
  if (customCron !== null) {
    const fields = customCron.split(' ');
    if (fields.length !== 5 || !fields.every((field) => FIELD.test(field)))
      throw invalid('customCron', 'must have five fields, such as `0 9 * * 1-5`', 'invalid_schedule');
    try {
      patternOf(timing);
    } catch (error) {
      throw invalid('customCron', wordsOf(error as Error), 'invalid_schedule');
    }
  }
  if (nextDue(timing, new Date()) === null) throw invalid('customCron', 'is never due', 'invalid_schedule');
}

/** Errors of croner begin with the names of its classes. */
const wordsOf = ({ message }: Error) =>
  `is not a pattern: ${message.replace(/^\w+: /, '').replace(/\.$/, '')}`;

/** As it is shown. `L` is the last day of a month. */
export function cronOf(timing: Timing): string {
  const { minute, hour, dayOfWeek, dayOfMonth, customCron } = timing;
  switch (timing.scheduleType) {
    case 'HOURLY':
      return `${minute} * * * *`;
    case 'DAILY':
      return `${minute} ${hour} * * *`;
    case 'WEEKLY':
      return `${minute} ${hour} * * ${dayOfWeek}`;
    case 'MONTHLY':
      return `${minute} ${hour} ${dayOfMonth === 31 ? 'L' : dayOfMonth} * *`;
    case 'CUSTOM':
      return customCron!;
  }
}

/** A CommonJS module, whose default export some loaders have already taken out of it. */
const cronstrue = descriptions.default ?? (descriptions as unknown as typeof descriptions.default);

/** In the language of the account, or in English if there are no words for it. */
export function wordsFor(timing: Timing, locale: string | undefined): string {
  const language = locale?.toLowerCase().split('-')[0] ?? 'en';
  const known = Object.hasOwn(cronstrue.locales, language) ? language : 'en';
  return cronstrue.toString(cronOf(timing), {
    locale: known,
    use24HourTimeFormat: true,
    // Of a pattern that it cannot describe, the pattern itself is shown.
    throwExceptionOnParseError: false,
  });
}

const DAY_MS = 86_400_000;

/** Every second of a pattern counts as a moment of UTC here: the wall time, whatever the zone. */
function patternOf(timing: Timing, timezone = 'UTC'): Cron {
  const { minute, hour, dayOfMonth } = timing;
  const cron = (dayOfMonth ?? 0) > 28 ? `${minute} ${hour} 28-31 * *` : cronOf(timing);
  return new Cron(cron, { timezone, mode: '5-part', paused: true });
}

/** Whether it runs in every hour: then an hour that comes twice has two runs, and one that is skipped has none. */
const isHourly = ({ scheduleType, customCron }: Timing) =>
  scheduleType === 'HOURLY' || customCron?.split(' ')[1] === '*';

/** The first due time after this moment, or null if there is none. */
export function nextDue(timing: Timing, after: Date): Date | null {
  if (isHourly(timing)) return patternOf(timing, timing.timezone).nextRun(after);
  const pattern = patternOf(timing);
  // A day earlier, because a gap in the wall time moves what lies in it to later.
  let wall: Date | null = new Date(wallOf(timing.timezone, after.getTime()) - DAY_MS);
  for (;;) {
    wall = nextWall(timing, pattern, wall);
    if (wall === null) return null;
    const at = momentOf(timing.timezone, wall.getTime());
    if (at > after.getTime()) return new Date(at);
  }
}

function nextWall({ scheduleType, dayOfMonth }: Timing, pattern: Cron, after: Date): Date | null {
  for (let wall = pattern.nextRun(after); ; wall = pattern.nextRun(wall)) {
    if (wall === null || scheduleType !== 'MONTHLY') return wall;
    const last = new Date(Date.UTC(wall.getUTCFullYear(), wall.getUTCMonth() + 1, 0)).getUTCDate();
    if (wall.getUTCDate() === Math.min(dayOfMonth!, last)) return wall;
  }
}

/** Schedules of embed tenants share the server with those of others. */
const EMBED_INTERVAL_MS = 15 * 60_000;
/** The times of a few days, if no two are nearer than that. */
const COMPARED = 400;

/** Throws a 400 if the schedule is due more often than one of an embed tenant may be. */
export function requireInterval(timing: Timing) {
  if (timing.scheduleType !== 'CUSTOM') return;
  const times = patternOf(timing).nextRuns(COMPARED);
  if (times.some((at, i) => i > 0 && at.getTime() - times[i - 1]!.getTime() < EMBED_INTERVAL_MS))
    throw invalid('customCron', 'must leave at least 15 minutes between two times', 'invalid_schedule');
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** What clocks in the zone show at this moment, as if it were UTC. */
function wallOf(timezone: string, at: number): number {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(timezone, format);
  }
  const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  return Date.UTC(part.year!, part.month! - 1, part.day!, part.hour, part.minute, part.second);
}

/** The first moment at which clocks show this or, if they never do, something later. */
function momentOf(timezone: string, wall: number): number {
  const offsets = [wall - DAY_MS, wall + DAY_MS].map((at) => wallOf(timezone, at) - at);
  const exact = offsets.map((offset) => wall - offset).filter((at) => wallOf(timezone, at) === wall);
  if (exact.length) return Math.min(...exact);
  let [before, from] = [wall - Math.max(...offsets) - 1, wall - Math.min(...offsets)];
  while (from - before > 1) {
    const middle = Math.floor((before + from) / 2);
    if (wallOf(timezone, middle) >= wall) from = middle;
    else before = middle;
  }
  return from;
}

export interface ClaimedTimes {
  /** The due time to run; null if it is too late for all. */
  run: Date | null;
  /** The first of those that were missed, and how many. */
  missed: { first: Date; count: number } | null;
  next: Date | null;
}

/** A server that was down still runs what was due less than this ago. */
const LATE_MAX_MS = 3_600_000;
const COUNTED_MAX = 1000;

/** What becomes of a due time that has come, and of those after it that have come too. */
export function claim(timing: Timing, dueAt: Date, now: Date): ClaimedTimes {
  let run: Date | null = null;
  let missed: ClaimedTimes['missed'] = null;
  let next: Date | null = dueAt;
  for (let n = 0; next !== null && next <= now && n < COUNTED_MAX; n++) {
    if (run) missed = oneMore(missed, run);
    run = next;
    next = nextDue(timing, next);
  }
  if (next !== null && next <= now) next = nextDue(timing, now);
  if (run && now.getTime() - run.getTime() >= LATE_MAX_MS) {
    missed = oneMore(missed, run);
    run = null;
  }
  return { run, missed, next };
}

const oneMore = (missed: ClaimedTimes['missed'], at: Date) => ({
  first: missed?.first ?? at,
  count: (missed?.count ?? 0) + 1,
});
