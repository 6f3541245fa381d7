/** Calendar arithmetic on local times, which are milliseconds as `zones.ts` has them. */
import type { Granularity, Interval, Unit } from '../model.ts';
import { readMoment } from './moments.ts';
import { UTC } from './zones.ts';

const MS: Partial<Record<Unit, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};
const MONTHS: Partial<Record<Unit, number>> = { month: 1, quarter: 3, year: 12 };

/** 2000-01-01, and the Monday after it, from which weeks are counted. */
const EPOCH = Date.UTC(2000, 0, 1);
const MONDAY = Date.UTC(2000, 0, 3);

/** Periods of equal length that follow each other, from a point in time that begins one. */
export type Periods =
  | { readonly seconds: number; readonly originMs: number }
  /** `base` is the first month of a period, counted from January 2000. Periods begin `shiftSeconds` into their month. */
  | { readonly months: number; readonly base: number; readonly shiftSeconds: number };

export const periodsOfUnit = (unit: Unit): Periods =>
  MONTHS[unit] !== undefined
    ? { months: MONTHS[unit], base: 0, shiftSeconds: 0 }
    : { seconds: MS[unit]! / 1000, originMs: unit === 'week' ? MONDAY : EPOCH };

/** Undefined if the interval mixes months, which differ in length, with shorter units. */
export function periodsOf({ interval, offset, origin }: Granularity): Periods | undefined {
  const months = sumOf(interval, MONTHS);
  const ms = sumOf(interval, MS);
  if (months > 0 && ms > 0) return undefined;
  const start =
    origin === undefined
      ? interval.every(({ unit }) => unit === 'week')
        ? MONDAY
        : EPOCH
      : readMoment(origin, UTC)!.from.ms;
  const originMs = offset ? addInterval(start, offset) : start;
  if (ms > 0) return { seconds: ms / 1000, originMs };
  const first = startOfMonth(originMs);
  return { months, base: modulo(monthIndex(first), months), shiftSeconds: (originMs - first) / 1000 };
}

const sumOf = (interval: Interval, sizes: Partial<Record<Unit, number>>) =>
  interval.reduce((sum, { count, unit }) => sum + count * (sizes[unit] ?? 0), 0);

export function startOfPeriod(localMs: number, periods: Periods): number {
  if ('seconds' in periods) {
    const size = periods.seconds * 1000;
    return localMs - modulo(localMs - periods.originMs, size);
  }
  const shiftMs = periods.shiftSeconds * 1000;
  const index = monthIndex(localMs - shiftMs);
  return monthStart(index - modulo(index - periods.base, periods.months)) + shiftMs;
}

export const nextPeriod = (startMs: number, periods: Periods): number => {
  if ('seconds' in periods) return startMs + periods.seconds * 1000;
  const shiftMs = periods.shiftSeconds * 1000;
  return monthStart(monthIndex(startMs - shiftMs) + periods.months) + shiftMs;
};

export const startOf = (unit: Unit, localMs: number) => startOfPeriod(localMs, periodsOfUnit(unit));

/** A day that the month does not have becomes its last one. */
export function addInterval(localMs: number, interval: Interval, times = 1): number {
  const months = sumOf(interval, MONTHS) * times;
  let moved = localMs;
  if (months !== 0) {
    const start = startOfMonth(localMs);
    const target = monthStart(monthIndex(start) + months);
    const length = monthStart(monthIndex(start) + months + 1) - target;
    const intoMonth = localMs - start;
    const timeOfDay = modulo(intoMonth, MS.day!);
    moved = target + Math.min(intoMonth, length - MS.day! + timeOfDay);
  }
  return moved + sumOf(interval, MS) * times;
}

const monthIndex = (localMs: number) => {
  const date = new Date(localMs);
  return (date.getUTCFullYear() - 2000) * 12 + date.getUTCMonth();
};
const monthStart = (index: number) => {
  const date = new Date(EPOCH);
  date.setUTCFullYear(2000 + Math.floor(index / 12), modulo(index, 12), 1);
  return date.getTime();
};
const startOfMonth = (localMs: number) => monthStart(monthIndex(localMs));
const modulo = (a: number, b: number) => ((a % b) + b) % b;
