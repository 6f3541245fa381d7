/** Numbers, dates and titles as people of a locale write them. */
import { addDays } from './dates.ts';
import { en } from './texts/en.ts';
import { type Say, sayWith } from './texts/index.ts';
import type { Annotation, ColumnFormat, FieldDisplay, Query } from './types.ts';

const CURRENCY = 'USD';

export interface Formats {
  value(value: unknown, shown: FieldDisplay | undefined, override?: ColumnFormat | null): string;
  /** Short, for large figures: `1.2M`. */
  short(value: unknown, shown: FieldDisplay | undefined, override?: ColumnFormat | null): string;
  /** The ends of a scale: short if both have the same number word. */
  ends(values: readonly unknown[], shown: FieldDisplay | undefined, override?: ColumnFormat | null): string[];
  /** With a sign: `+12.5%`. */
  change(ratio: number): string;
  /** The difference of two rates, with a sign: `+1.5 pts`. */
  points(difference: number): string;
  date(value: unknown, granularity?: string): string;
  /** The time of a day: `9:05 AM`. */
  clock(time: string): string;
  /** From the first to the last day: `Jan – Mar 2026`. */
  period(days: readonly [string, string]): string;
  /** The format of a whole column: its values have the same number of decimals. */
  column(
    values: readonly unknown[],
    shown: FieldDisplay | undefined,
    override?: ColumnFormat | null,
  ): ColumnFormat | null | undefined;
  count(value: number): string;
  /** The title of a measure that is compared with an earlier period: `Revenue, previous`. */
  compared(title: string, output: ComparisonOutput): string;
  compareTexts(a: string, b: string): number;
}

export const currencyOf = (shown: FieldDisplay | undefined) => {
  const named = (shown?.meta as { currency?: unknown } | undefined)?.currency;
  return typeof named === 'string' && /^[A-Z]{3}$/.test(named) ? named : CURRENCY;
};

export const kindOf = (shown: FieldDisplay | undefined, override?: ColumnFormat | null) =>
  override?.type ??
  (['currency', 'percent', 'points'].includes(shown?.format ?? '') ? shown!.format! : 'number');

/** What is called by a number, such as an id or a year, has no separators in it. */
const isName = (shown: FieldDisplay | undefined) =>
  shown?.isDimension === true && (shown.format === undefined || shown.format === 'id');

const DECIMALS_MAX = 2;
/** From here on, figures are short. */
const SHORT_FROM = 10_000;

function decimalsOf(value: unknown): number {
  const text = typeof value === 'number' ? value.toFixed(DECIMALS_MAX) : String(value ?? '');
  const [, decimals = ''] = /^-?\d+\.(\d*?)0*$/.exec(text) ?? [];
  return Math.min(decimals.length, DECIMALS_MAX);
}

const centsOf = (currency: string) =>
  new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;

export function createFormats(locale: string, say: Say = sayWith(en)): Formats {
  const kept = new Map<string, Intl.NumberFormat>();
  const format = (number: number | `${number}`, options: Intl.NumberFormatOptions) => {
    const key = JSON.stringify(options);
    const known = kept.get(key) ?? new Intl.NumberFormat(locale, options);
    kept.set(key, known);
    return known.format(number);
  };
  const collator = new Intl.Collator(locale, { numeric: true });

  const optionsOf = (
    shown: FieldDisplay | undefined,
    override?: ColumnFormat | null,
  ): Intl.NumberFormatOptions => {
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
    return {
      ...(fixed ?? { maximumFractionDigits: DECIMALS_MAX }),
      ...(isName(shown) ? { useGrouping: false } : {}),
    };
  };

  const shortOf = (options: Intl.NumberFormatOptions) => ({
    ...options,
    notation: 'compact' as const,
    minimumFractionDigits: 0,
    maximumFractionDigits: 1,
  });
  /** `M` of `1.5M`. Small figures are not shortened. */
  const wordOf = (value: number, options: Intl.NumberFormatOptions): string | undefined =>
    Math.abs(value) < SHORT_FROM
      ? undefined
      : new Intl.NumberFormat(locale, shortOf(options))
          .formatToParts(value)
          .find(({ type }) => type === 'compact')?.value;

  const dates: Record<string, Intl.DateTimeFormatOptions> = {
    year: { year: 'numeric' },
    month: { year: 'numeric', month: 'short' },
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
    if (granularity === 'week') {
      const day = at.toISOString().slice(0, 10);
      return period([day, addDays(day, 6)]);
    }
    if (granularity === 'quarter') return `Q${Math.floor(at.getUTCMonth() / 3) + 1} ${at.getUTCFullYear()}`;
    const isDay = text.endsWith('T00:00:00.000');
    const options = dates[granularity ?? (isDay ? 'day' : 'hour')] ?? dates.hour;
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).format(at);
  }

  function period([from, to]: readonly [string, string]): string {
    const isWhole = (ending: string) => from.endsWith(ending) && addDays(to, 1).endsWith(ending);
    const options: Intl.DateTimeFormatOptions = isWhole('-01-01')
      ? { year: 'numeric' }
      : isWhole('-01')
        ? { year: 'numeric', month: 'short' }
        : { dateStyle: 'medium' };
    const [first, last] = [from, to].map((day) => new Date(`${day}T00:00:00Z`)) as [Date, Date];
    return new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' }).formatRange(first, last);
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
        if (kindOf(shown, override) === 'points') return this.points(Number(value));
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
      if (Math.abs(Number(value)) < SHORT_FROM)
        return this.value(Number(value), { type: 'number', title: '', shortTitle: '', ...shown }, override);
      const { notation, ...short } = shortOf(options);
      // Not every language has a word for thousands.
      return wordOf(Number(value), options)
        ? format(Number(value), { ...short, notation })
        : format(Number(value), { ...short, maximumFractionDigits: 0 });
    },
    ends(values, shown, override) {
      const options = optionsOf(shown, override);
      const words = new Set(values.map((value) => wordOf(Number(value), options)));
      return values.map((value) =>
        words.size > 1 ? this.value(value, shown, override) : this.short(value, shown, override),
      );
    },
    change: (ratio) =>
      format(ratio, { style: 'percent', maximumFractionDigits: 1, signDisplay: 'exceptZero' }),
    points: (difference) =>
      say('points', {
        value: format(difference * 100, { maximumFractionDigits: 1, signDisplay: 'exceptZero' }),
      }),
    date,
    clock: (time) =>
      new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone: 'UTC' }).format(
        new Date(`1970-01-01T${time || '00:00'}Z`),
      ),
    period,
    column(values, shown, override) {
      const kind = kindOf(shown, override);
      const isFree = shown?.type === 'number' && typeof override?.decimalPlaces !== 'number';
      if (!isFree || (kind !== 'number' && kind !== 'currency')) return override;
      const numbers = values.filter(isNumber);
      const isLarge = numbers.every((value) => Number(value) === 0 || Math.abs(Number(value)) >= 1000);
      const decimalPlaces =
        kind === 'number'
          ? numbers.reduce((most: number, value) => Math.max(most, decimalsOf(value)), 0)
          : isLarge
            ? 0
            : centsOf(currencyOf(shown));
      return { type: kind, decimalPlaces };
    },
    count: (value) => format(value, {}),
    compared: (title, output) => say(output, { title }),
    compareTexts: collator.compare,
  };
}

const COMPARED = /^(.+)\.(previous|change|percent)$/;

/** Whether a column is a measure of the query, or the comparison of one. */
export const measureIn = ({ measures = [], calculated = [] }: Query, member: string): boolean =>
  measures.includes(member) ||
  measures.includes(COMPARED.exec(member)?.[1] ?? '') ||
  calculated.some(({ name }) => name === member);

type ComparisonOutput = 'previous' | 'change' | 'percent';

/** What a column means, also one that the page computed, whose title is in the words of the formats. */
export function shownOf(
  { measures, dimensions, timeDimensions }: Annotation,
  key: string,
  formats?: Pick<Formats, 'compared'>,
): FieldDisplay | undefined {
  const shown = measures[key] ?? timeDimensions[key];
  if (shown) return shown;
  if (dimensions[key]) return { ...dimensions[key], isDimension: true };
  const [, measure, output] = COMPARED.exec(key) ?? [];
  const base = measure ? measures[measure] : undefined;
  if (!base || !output) return undefined;
  const shortTitle = formats?.compared(base.shortTitle, output as ComparisonOutput) ?? base.shortTitle;
  const isPoints = output === 'change' && base.format === 'percent';
  return {
    ...base,
    title: shortTitle,
    shortTitle,
    ...(output === 'percent' ? { format: 'percent' } : isPoints ? { format: 'points' } : {}),
  };
}
