/** Dates and times as queries write them. */
import type { Zone } from './zones.ts';

/** An instant, with the microseconds that a number of milliseconds has no room for. */
export interface Instant {
  readonly ms: number;
  readonly micros: number;
}

/** What a text stands for: a day, a second or less, from its beginning up to its end. */
export interface Span {
  readonly from: Instant;
  /** The end, which is no longer part of the span. */
  readonly to: Instant;
}

const MOMENT =
  /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,6}))?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Reads a date or time; undefined if the text is none. A time without an offset is one of the zone. */
export function readMoment(text: string, zone: Zone): Span | undefined {
  const match = MOMENT.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour, minute, second, fraction = '', offset] = match;
  const date = new Date(0);
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  if (Number(year) === 0 || date.getUTCMonth() !== Number(month) - 1 || date.getUTCDate() !== Number(day))
    return undefined;
  if (Number(hour ?? 0) > 23 || Number(minute ?? 0) > 59 || Number(second ?? 0) > 59) return undefined;
  const offsetMs = readOffset(offset);
  if (offsetMs === undefined) return undefined;
  const instantOf = (localMs: number) =>
    offset === undefined ? zone.instantOf(localMs) : localMs - offsetMs;
  if (hour === undefined) {
    const start = date.getTime();
    return {
      from: { ms: instantOf(start), micros: 0 },
      to: { ms: instantOf(start + 86_400_000), micros: 0 },
    };
  }
  const digits = fraction.padEnd(6, '0');
  const localMs =
    date.getTime() +
    Number(hour) * 3_600_000 +
    Number(minute) * 60_000 +
    Number(second ?? 0) * 1000 +
    Number(digits.slice(0, 3));
  const from = { ms: instantOf(localMs), micros: Number(digits.slice(3)) };
  return { from, to: afterPrecision(from, second === undefined ? undefined : fraction.length) };
}

/** The end of the minute, the second or the part of a second that was written. */
function afterPrecision({ ms, micros }: Instant, digits: number | undefined): Instant {
  if (digits === undefined) return { ms: ms + 60_000, micros };
  const more = micros + 10 ** (6 - digits);
  return { ms: ms + Math.floor(more / 1000), micros: more % 1000 };
}

function readOffset(text: string | undefined): number | undefined {
  if (text === undefined || text === 'Z') return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(-2));
  if (hours > 15 || minutes > 59) return undefined;
  return (text[0] === '-' ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

const YEAR_1 = Date.parse('0001-01-01T00:00:00Z');
const YEAR_10000 = Date.UTC(10_000, 0);

/** Years without four digits are beyond all others, and are written as infinite. */
export const isFiniteInstant = (ms: number) => ms >= YEAR_1 && ms < YEAR_10000;

/** `2026-01-31T09:30:00.000000Z` */
export function writeInstant({ ms, micros }: Instant): string {
  if (!isFiniteInstant(ms)) return ms < YEAR_1 ? '-infinity' : 'infinity';
  return `${new Date(ms).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}

export const writeLocal = (localMs: number) => new Date(localMs).toISOString().slice(0, -1);
