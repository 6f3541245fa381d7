/** Date ranges of queries: two dates, one date, or words such as `last 7 days`. */
import type { Unit } from '../model.ts';
import { addInterval, startOf } from './calendar.ts';
import { readMoment, type Span } from './moments.ts';
import type { Zone } from './zones.ts';

export interface Clock {
  readonly zone: Zone;
  readonly now: QueryTime;
}

/** The time of a query. It notes in which units the plan read it, so that the plan knows how long it stays the same. */
export interface QueryTime {
  /** The time, for a caller that uses only the unit in which it lies, and not the moment within that unit. */
  in(unit: Unit): number;
  /** The time until which every call so far would return the same unit. Infinite without calls. */
  readonly sameUntilMs: number;
}

const SECOND_MS = 1000;
/** The units from the minute on begin with a minute, in every time zone. */
const MINUTE_MS = 60_000;

export function createNow(nowMs: number): QueryTime {
  let sameUntilMs = Number.POSITIVE_INFINITY;
  return {
    in(unit) {
      const size = unit === 'second' ? SECOND_MS : MINUTE_MS;
      sameUntilMs = Math.min(sameUntilMs, (Math.floor(nowMs / size) + 1) * size);
      return nowMs;
    },
    get sameUntilMs() {
      return sameUntilMs;
    },
  };
}

export type RangeText = string | readonly string[];

/** Undefined if it cannot be read. The range may be empty. */
export function readRange(text: RangeText, clock: Clock): Span | undefined {
  if (typeof text !== 'string') {
    const [first, last = first] = text;
    if (first === undefined || last === undefined || text.length > 2) return undefined;
    const from = readEdge(first, clock);
    const to = readEdge(last, clock);
    return from && to && { from: from.from, to: to.to };
  }
  return readMoment(text.trim(), clock.zone) ?? readWords(text, clock);
}

/** A date, or a word for one day. */
const readEdge = (text: string, clock: Clock) =>
  readMoment(text.trim(), clock.zone) ?? readWords(text, clock);

const UNIT = '(second|minute|hour|day|week|month|quarter|year)s?';
const DAYS: Record<string, number> = { today: 0, yesterday: -1, tomorrow: 1 };
const ONE = new RegExp(`^(this|last|next) ${UNIT}$`);
const MANY = new RegExp(`^(last|next) (\\d{1,5}) ${UNIT}$`);
const FROM_TO = /^from (.{1,60}) to (.{1,60})$/;
const AWAY = new RegExp(`^(\\d{1,5}) ${UNIT} (ago|from now)$`);

function readWords(given: string, clock: Clock): Span | undefined {
  const text = given.trim().toLowerCase().replace(/\s+/g, ' ');
  if (Object.hasOwn(DAYS, text)) return spanOf('day', DAYS[text]!, DAYS[text]!, clock);
  const one = ONE.exec(text);
  if (one) {
    const step = { this: 0, last: -1, next: 1 }[one[1]!]!;
    return spanOf(one[2] as Unit, step, step, clock);
  }
  const many = MANY.exec(text);
  if (many) {
    const count = Number(many[2]);
    if (count === 0) return undefined;
    return many[1] === 'last'
      ? spanOf(many[3] as Unit, -count, -1, clock)
      : spanOf(many[3] as Unit, 1, count, clock);
  }
  const fromTo = FROM_TO.exec(text);
  return fromTo ? readFromTo(fromTo[1]!, fromTo[2]!, clock) : undefined;
}

const SHORT: Partial<Record<Unit, number>> = { second: SECOND_MS, minute: MINUTE_MS, hour: 3_600_000 };

/** The span from the beginning of one unit to the end of another one, counted from the one that is now. */
const spanOf = (unit: Unit, first: number, last: number, { zone, now }: Clock): Span =>
  spanAround(now.in(unit), unit, first, last, zone);

function spanAround(nowMs: number, unit: Unit, first: number, last: number, zone: Zone): Span {
  const size = SHORT[unit];
  const localNow = zone.localOf(nowMs);
  if (size !== undefined) {
    // Hours are counted as they pass, also while clocks are changed.
    const start = nowMs - (localNow - startOf(unit, localNow));
    return spanAt(start + first * size, start + (last + 1) * size);
  }
  const start = startOf(unit, localNow);
  const at = (count: number) => zone.instantOf(addInterval(start, [{ count: 1, unit }], count));
  return spanAt(at(first), at(last + 1));
}

const spanAt = (from: number, to: number): Span => ({
  from: { ms: from, micros: 0 },
  to: { ms: to, micros: 0 },
});

/** From the beginning of a day to the end of a day, or of an hour if the text speaks of hours. */
function readFromTo(from: string, to: string, clock: Clock): Span | undefined {
  const unit =
    (['second', 'minute', 'hour'] as const).find((word) => `${from} ${to}`.includes(word)) ?? 'day';
  const first = readPoint(from, unit, clock);
  const last = readPoint(to, unit, clock);
  return first && last && { from: first.from, to: last.to };
}

function readPoint(text: string, unit: Unit, clock: Clock): Span | undefined {
  if (text === 'now') return spanOf(unit, 0, 0, clock);
  if (Object.hasOwn(DAYS, text)) return spanOf('day', DAYS[text]!, DAYS[text]!, clock);
  const away = AWAY.exec(text);
  if (!away) return readMoment(text.replace('t', 'T').replace('z', 'Z'), clock.zone);
  const count = Number(away[1]) * (away[3] === 'ago' ? -1 : 1);
  const awayUnit = away[2] as Unit;
  const { zone } = clock;
  const nowMs = clock.now.in(unit);
  const size = SHORT[awayUnit];
  const at =
    size === undefined
      ? zone.instantOf(addInterval(zone.localOf(nowMs), [{ count: 1, unit: awayUnit }], count))
      : nowMs + count * size;
  return spanAround(at, unit, 0, 0, zone);
}
