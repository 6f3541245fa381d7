/** How the axes and legends of charts write numbers and times: in the locale of the page, and as the measure is written. */
import { currencyOf, kindOf } from '../format.ts';
import type { ColumnFormat, FieldDisplay } from '../types.ts';
import { POINTS } from './axis-formats.ts';

/** What d3 needs to know of a locale. */
export function chartLocale(locale: string, currency: string) {
  const money = new Intl.NumberFormat(locale, { style: 'currency', currency }).formatToParts(1_234_567.8);
  const number = new Intl.NumberFormat(locale).formatToParts(1_234_567.8);
  const partOf = (type: string) => number.find((part) => part.type === type)?.value;
  const isBefore = money[0]!.type === 'currency';
  const symbol = money.find(({ type }) => type === 'currency')!.value;
  const gap = money.some(({ type, value }) => type === 'literal' && value.trim() === '') ? '\u00a0' : '';
  return {
    number: {
      decimal: partOf('decimal') ?? '.',
      thousands: partOf('group') ?? '',
      // From the right; the last one is that of all others.
      grouping: number
        .filter(({ type }) => type === 'integer')
        .slice(1)
        .reverse()
        .map(({ value }) => value.length),
      currency: isBefore ? [symbol + gap, ''] : ['', gap + symbol],
    },
    time: timeOf(locale),
  };
}

function timeOf(locale: string) {
  const names = (options: Intl.DateTimeFormatOptions, dates: Date[]) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
    return dates.map((date) => format.format(date));
  };
  // The first of these days is a Sunday.
  const days = Array.from({ length: 7 }, (_, i) => new Date(Date.UTC(2023, 0, 1 + i)));
  const months = Array.from({ length: 12 }, (_, i) => new Date(Date.UTC(2023, i, 1)));
  return {
    ...{ dateTime: '%x, %X', date: '%d.%m.%Y', time: '%H:%M:%S', periods: ['AM', 'PM'] },
    days: names({ weekday: 'long' }, days),
    shortDays: names({ weekday: 'short' }, days),
    months: names({ month: 'long' }, months),
    shortMonths: names({ month: 'short' }, months),
  };
}

export interface Measure {
  /** Its name in the spec. */
  key: string;
  shown: FieldDisplay | undefined;
  format: ColumnFormat | undefined;
}

/** The currency of the first measure that is money. */
export const currencyIn = (measures: Measure[]) =>
  currencyOf(measures.find(({ shown, format }) => kindOf(shown, format) === 'currency')?.shown);

const FORMATS: Record<string, string> = { currency: '$~s', percent: '~%', points: POINTS };

type Guide = { scale?: string; fill?: string; stroke?: string; size?: string; format?: unknown };
type Scale = { name: string; type?: string; domain?: unknown };

const isTime = (scale: Scale | undefined) => scale?.type === 'time' || scale?.type === 'utc';

/** Vega-Lite writes the year into every label of a unit of time. */
const isWrittenOut = (format: unknown) =>
  /^timeUnitSpecifier\(\[[^\]]*"year"/.test(String((format as { signal?: unknown })?.signal));

/** The axes or legends, with the format of the measure that they show, unless the spec gives one. */
export function withFormats(guides: unknown, scales: unknown, measures: Measure[]): unknown {
  if (!Array.isArray(guides) || !Array.isArray(scales)) return guides;
  // The key of a measure begins those of its comparisons: `<key>__percent`.
  const longestFirst = measures.toSorted((a, b) => b.key.length - a.key.length);
  return (guides as Guide[]).map((guide) => {
    const scale = (scales as Scale[]).find(({ name }) =>
      [guide.scale, guide.fill, guide.stroke, guide.size].includes(name),
    );
    const domain = JSON.stringify(scale?.domain ?? null);
    const isContinuous = !['band', 'point', 'ordinal', 'time', 'utc'].includes(scale?.type ?? '');
    // A stacked or added measure is called `<key>_end` or `sum_<key>`.
    const measure = longestFirst.find(({ key }) => new RegExp(`"(?:\\w+_)?${key}(?:_\\w+)?"`).test(domain));
    const format = measure && isContinuous ? FORMATS[kindOf(measure.shown, measure.format)] : undefined;
    if (isTime(scale) && isWrittenOut(guide.format)) return { ...guide, format: undefined };
    return format && guide.format === undefined ? { ...guide, format } : guide;
  });
}
