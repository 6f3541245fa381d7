/** Numbers, dates and titles as people of a locale write them. */
import type { Annotation, ColumnFormat, Shown } from './types.ts';

const CURRENCY = 'USD';

export interface Formats {
  value(value: unknown, shown: Shown | undefined, override?: ColumnFormat | null): string;
  /** Short, for large figures: `1.2M`. */
  short(value: unknown, shown: Shown | undefined, override?: ColumnFormat | null): string;
  /** With a sign: `+12.5%`. */
  change(ratio: number): string;
  date(value: unknown, granularity?: string): string;
  count(value: number): string;
  compareTexts(a: string, b: string): number;
}

export const currencyOf = (shown: Shown | undefined) => {
  const named = (shown?.meta as { currency?: unknown } | undefined)?.currency;
  return typeof named === 'string' && /^[A-Z]{3}$/.test(named) ? named : CURRENCY;
};

export const kindOf = (shown: Shown | undefined, override?: ColumnFormat | null) =>
  override?.type ?? (['currency', 'percent'].includes(shown?.format ?? '') ? shown!.format! : 'number');

export function createFormats(locale: string): Formats {
  const kept = new Map<string, Intl.NumberFormat>();
  const format = (number: number | `${number}`, options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify(options);
    const known = kept.get(key) ?? new Intl.NumberFormat(locale, options);
    kept.set(key, known);
    return known.format(number);
  };
  const collator = new Intl.Collator(locale, { numeric: true });

  const optionsOf = (shown: Shown | undefined, override?: ColumnFormat | null): Intl.NumberFormatOptions => {
    const kind = kindOf(shown, override);
    const places = override?.decimalPlaces;
    const fixed =
      typeof places === 'number' && places >= 0 && places <= 20
        ? { minimumFractionDigits: places, maximumFractionDigits: places }
        : undefined;
    if (kind === 'currency')
      return { style: 'currency', currency: currencyOf(shown), ...(fixed ?? { maximumFractionDigits: 2 }) };
    if (kind === 'percent')
      return { style: 'percent', ...(fixed ?? { minimumFractionDigits: 1, maximumFractionDigits: 1 }) };
    return fixed ?? { maximumFractionDigits: 2 };
  };

  const dates: Record<string, Intl.DateTimeFormatOptions> = {
    year: { year: 'numeric' },
    month: { year: 'numeric', month: 'short' },
    week: { dateStyle: 'medium' },
    day: { dateStyle: 'medium' },
    hour: { dateStyle: 'medium', timeStyle: 'short' },
  };

  function date(value: unknown, granularity?: string): string {
    const text = String(value);
    // The server sends times of the zone in force, so they are shown as they are.
    const at = new Date(
      typeof value === 'number' ? value : /[zZ]|[+-]\d\d:\d\d$/.test(text) ? text : `${text}Z`,
    );
    if (Number.isNaN(at.getTime())) return text;
    if (granularity === 'quarter') return `Q${Math.floor(at.getUTCMonth() / 3) + 1} ${at.getUTCFullYear()}`;
    const isDay = text.endsWith('T00:00:00.000');
    const options = dates[granularity ?? (isDay ? 'day' : 'hour')] ?? dates.hour;
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).format(at);
  }

  const isNumber = (value: unknown) =>
    typeof value === 'number'
      ? Number.isFinite(value)
      : typeof value === 'string' && value !== '' && Number.isFinite(Number(value));

  return {
    value(value, shown, override) {
      if (value === null || value === undefined || value === '') return '–';
      if (shown?.type === 'time') return date(value, shown.granularity?.name);
      if ((shown?.type === 'number' || override) && isNumber(value)) {
        const options = optionsOf(shown, override);
        const isLarge = Math.abs(Number(value)) >= 1000 && typeof override?.decimalPlaces !== 'number';
        // A text has more digits than a number can hold.
        return format(
          value as number | `${number}`,
          isLarge && options.style === 'currency' ? { ...options, maximumFractionDigits: 0 } : options,
        );
      }
      return String(value);
    },
    short(value, shown, override) {
      if (!isNumber(value)) return '–';
      const options = optionsOf(shown, override);
      if (Math.abs(Number(value)) < 10_000)
        return this.value(Number(value), { type: 'number', title: '', shortTitle: '', ...shown }, override);
      return format(Number(value), {
        ...options,
        notation: 'compact',
        minimumFractionDigits: 0,
        maximumFractionDigits: 1,
      });
    },
    change: (ratio) =>
      format(ratio, { style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' }),
    date,
    count: (value) => format(value, {}),
    compareTexts: collator.compare,
  };
}

const OUTPUTS: Record<string, string> = { previous: 'previous', change: 'change', percent: 'percent' };

/** What a column means, also one that the page computed. */
export function shownOf(
  { measures, dimensions, timeDimensions }: Annotation,
  key: string,
): Shown | undefined {
  const shown = measures[key] ?? dimensions[key] ?? timeDimensions[key];
  if (shown) return shown;
  const [, measure, output] = /^(.+)\.(previous|change|percent)$/.exec(key) ?? [];
  const base = measure ? measures[measure] : undefined;
  if (!base || !output) return undefined;
  const shortTitle = `${base.shortTitle}, ${OUTPUTS[output]}`;
  return { ...base, title: shortTitle, shortTitle, ...(output === 'percent' ? { format: 'percent' } : {}) };
}
