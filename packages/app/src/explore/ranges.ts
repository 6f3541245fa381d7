/** Ranges of time that stay relative, as queries write them: `last 7 days`, `from 7 days ago to now`. */
import { say, type TextKey } from './texts/say.ts';

export const UNITS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;
export type RangeUnit = (typeof UNITS)[number];

/** So many units from now: negative before it. */
export interface Edge {
  count: number;
  unit: RangeUnit;
}

export type FreeRange =
  | { kind: 'last' | 'next'; count: number; unit: RangeUnit }
  | { kind: 'fromTo'; from: Edge; to: Edge };

const COUNT_MAX = 9999;
const UNIT = `(${UNITS.join('|')})s?`;
const MANY = new RegExp(`^(last|next) (\\d{1,4}) ${UNIT}$`);
const AWAY = new RegExp(`^(\\d{1,4}) ${UNIT} (ago|from now)$`);

const readEdge = (text: string): Edge | undefined => {
  if (text === 'now' || text === 'today') return { count: 0, unit: 'day' };
  const [, count, unit, side] = AWAY.exec(text) ?? [];
  return unit ? { count: Number(count) * (side === 'ago' ? -1 : 1), unit: unit as RangeUnit } : undefined;
};

export function readRange(text: string): FreeRange | undefined {
  const [, kind, count, unit] = MANY.exec(text) ?? [];
  if (unit) return { kind: kind as 'last', count: Number(count), unit: unit as RangeUnit };
  const [, first, last] = /^from (.+) to (.+)$/.exec(text) ?? [];
  const from = first && readEdge(first);
  const to = last && readEdge(last);
  return from && to ? { kind: 'fromTo', from, to } : undefined;
}

const counted = (count: number) => Math.min(COUNT_MAX, Math.max(0, Math.round(Math.abs(count)) || 0));
const writeEdge = ({ count, unit }: Edge) =>
  count === 0 ? 'now' : `${counted(count)} ${unit}s ${count < 0 ? 'ago' : 'from now'}`;

export const writeRange = (range: FreeRange): string =>
  range.kind === 'fromTo'
    ? `from ${writeEdge(range.from)} to ${writeEdge(range.to)}`
    : `${range.kind} ${Math.max(1, counted(range.count))} ${range.unit}s`;

const UNIT_TEXTS: Record<RangeUnit, TextKey> = {
  hour: 'nHours',
  day: 'nDays',
  week: 'nWeeks',
  month: 'nMonths',
  quarter: 'nQuarters',
  year: 'nYears',
};
export const unitText = (unit: RangeUnit, count: number) => say(UNIT_TEXTS[unit], { count });

const edgeText = ({ count, unit }: Edge) =>
  count === 0
    ? say('today')
    : say(count < 0 ? 'agoN' : 'fromNowN', {
        count: Math.abs(count),
        unit: unitText(unit, Math.abs(count)),
      });

export const freeRangeText = (range: FreeRange): string =>
  range.kind === 'fromTo'
    ? say('fromToText', { from: edgeText(range.from), to: edgeText(range.to) })
    : say(range.kind === 'last' ? 'lastN' : 'nextN', {
        count: range.count,
        unit: unitText(range.unit, range.count),
      });
