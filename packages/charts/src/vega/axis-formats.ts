/** Labels of axes and legends: numbers with the same words as the figures of the page, times that tell their year once. */

/** What Vega asks a locale for. Labels of several lines are lists. */
export interface VegaLocale {
  format(specifier: unknown): (value: never) => string | string[];
  formatSpan(start: number, stop: number, count: unknown, specifier?: unknown): (value: number) => string;
  formatFloat(specifier?: unknown): (value: number) => string;
  timeFormat(specifier?: unknown): (date: Date) => string | string[];
  utcFormat(specifier?: unknown): (date: Date) => string | string[];
}

/** From here on, figures are short; see `format.ts`. */
const SHORT_FROM = 10_000;
/** Without an axis around it, a number has so many digits that matter. */
const DIGITS = 3;

interface Span {
  largest: number;
  step: number;
}

/** The distance of ticks: 1, 2 or 5 times a power of ten. */
function spanOf(start: number, stop: number, count: unknown): Span {
  const wanted = Math.abs(stop - start) / (typeof count === 'number' && count > 0 ? count : 10);
  const power = 10 ** Math.floor(Math.log10(wanted));
  const error = wanted / power;
  const factor = error >= Math.sqrt(50) ? 10 : error >= Math.sqrt(10) ? 5 : error >= Math.SQRT2 ? 2 : 1;
  return { largest: Math.max(Math.abs(start), Math.abs(stop)), step: factor * power };
}

const magnitude = (value: number) => Math.floor(Math.log10(value) + 1e-9);
const bounded = (digits: number, least: number, most: number) =>
  Number.isFinite(digits) ? Math.min(Math.max(digits, least), most) : least;

/** Sign, currency, separators, precision, whether zeroes are dropped, and type: what d3 calls a specifier. */
const SPECIFIER = /^(\+)?(\$)?(,)?(?:\.(\d{1,2}))?(~)?([fsd%])?$/;

/** How `Intl` writes what a specifier of d3 asks for; undefined for what only d3 can write. */
export function intlOptions(
  specifier: unknown,
  currency: string,
  span?: Span,
): Intl.NumberFormatOptions | undefined {
  const [all, sign, symbol, , precision, , type] = SPECIFIER.exec(String(specifier ?? '')) ?? [];
  if (all === undefined) return undefined;
  const style: Intl.NumberFormatOptions = {
    ...(symbol ? { style: 'currency', currency } : type === '%' ? { style: 'percent' } : {}),
    ...(sign ? { signDisplay: 'exceptZero' } : {}),
  };
  const isLarge = !span || span.largest >= SHORT_FROM;
  const mayBeShort = type === 's' || (all === '' && span) || all === '$';
  if (mayBeShort && isLarge) {
    const between = span ? magnitude(span.largest) - magnitude(span.step) + 2 : DIGITS;
    const digits = precision && type === 's' ? Math.max(Number(precision), span ? between : 0) : between;
    return { ...style, notation: 'compact', maximumSignificantDigits: bounded(digits, 1, 12) };
  }
  const step = span && (type === '%' ? span.step * 100 : span.step);
  const needed = step ? bounded(-magnitude(step), 0, 12) : undefined;
  const asked = type === 'd' ? 0 : precision && type !== 's' ? Number(precision) : undefined;
  // With fewer decimals than the ticks have, two of them would have one label.
  const decimals = asked === undefined ? needed : Math.max(asked, needed ?? 0);
  const isFixed = decimals !== undefined;
  return {
    ...style,
    minimumFractionDigits: isFixed ? decimals : 0,
    maximumFractionDigits: isFixed ? decimals : 2,
  };
}

/** Times tell their year, and hours their day, if the time before that is seen was of another one. */
function timeLabels(locale: string, isUtc: boolean, unseen: ReadonlySet<number>) {
  const formatter = (options: Intl.DateTimeFormatOptions) => {
    const format = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
    return (date: Date) => format.format(date);
  };
  const year = formatter({ year: 'numeric' });
  const month = formatter({ month: 'short' });
  const day = formatter({ month: 'short', day: 'numeric' });
  const wholeDay = formatter({ dateStyle: 'medium' });
  const hour = formatter({ hour: 'numeric', minute: '2-digit' });
  const second = formatter({ hour: 'numeric', minute: '2-digit', second: '2-digit' });
  let last: Date | undefined;
  return (given: Date): string | string[] => {
    const at = Number(given);
    const date = new Date(isUtc ? at : at - new Date(at).getTimezoneOffset() * 60_000);
    if (Number.isNaN(Number(date))) return '';
    // Ticks go forwards: one that does not is the first one of another round.
    const before = last && last < date ? last : undefined;
    if (!unseen.has(at)) last = date;
    const isSame = (length: number) =>
      before?.toISOString().slice(0, length) === date.toISOString().slice(0, length);
    if (Number(date) % 86_400_000 !== 0) {
      const text = Number(date) % 60_000 === 0 ? hour(date) : second(date);
      return isSame('2026-01-01'.length) ? text : [text, wholeDay(date)];
    }
    const isMonth = date.getUTCDate() === 1;
    if (isMonth && date.getUTCMonth() === 0) return year(date);
    const text = isMonth ? month(date) : day(date);
    return isSame('2026'.length) ? text : [text, year(date)];
  };
}

/** The text in lines of at most so many characters, broken between words where that is possible. */
export function linesOf(text: string, characters: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= characters) {
      lines[lines.length - 1] = `${last} ${word}`;
      continue;
    }
    for (let at = 0; at < word.length; at += characters) lines.push(word.slice(at, at + characters));
  }
  return lines;
}

const LINES_MAX = 4;

/** Names of axes and legends; see `fit-spec.ts`. */
function wrapped(specifier: unknown): ((value: unknown) => string | string[]) | undefined {
  const [, characters] = /^wrap:(\d{1,3})$/.exec(String(specifier)) ?? [];
  if (!characters) return undefined;
  return (value) => {
    const lines = linesOf(String(value), Number(characters));
    const shown =
      lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX - 1), `${lines[LINES_MAX - 1]}…`] : lines;
    return shown.length > 1 ? shown : (shown[0] ?? '');
  };
}

/** The format of differences of rates. */
export const POINTS = 'points';

/** The labels of a locale, in place of those of d3, which knows no number words but those of physics: `5,1 $k`. */
export function axisFormats(
  own: VegaLocale,
  locale: string,
  currency: string,
  points: (difference: number) => string,
  unseen: ReadonlySet<number> = new Set(),
): Partial<VegaLocale> {
  const numberFormat = (specifier: unknown, span: Span | undefined, otherwise: (value: number) => string) => {
    if (specifier === POINTS) return points;
    const options = intlOptions(specifier, currency, span);
    if (!options) return otherwise;
    const format = new Intl.NumberFormat(locale, options);
    return (value: number) => format.format(value);
  };
  const times = (isUtc: boolean) => (specifier: unknown) =>
    specifier === undefined || specifier === null
      ? timeLabels(locale, isUtc, unseen)
      : own[isUtc ? 'utcFormat' : 'timeFormat'](specifier);
  return {
    format: (specifier) =>
      wrapped(specifier) ??
      numberFormat(specifier, undefined, (value) => String(own.format(specifier)(value as never))),
    formatSpan: (start, stop, count, specifier) =>
      numberFormat(specifier, spanOf(start, stop, count), own.formatSpan(start, stop, count, specifier)),
    formatFloat: (specifier) => numberFormat(specifier, undefined, own.formatFloat(specifier)),
    timeFormat: times(false),
    utcFormat: times(true),
  };
}
