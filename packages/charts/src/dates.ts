/** Calendar dates as texts, `2026-03-31`, and the words for ranges of them. No time zone is involved. */
const DAY_MS = 86_400_000;

const toMs = (date: string) => Date.parse(`${date.slice(0, 10)}T00:00:00Z`);
const toDate = (ms: number) => new Date(ms).toISOString().slice(0, 10);
export const addDays = (date: string, days: number) => toDate(toMs(date) + days * DAY_MS);

function addMonths(date: string, months: number): string {
  const day = new Date(toMs(date));
  const month = new Date(Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + months, 1));
  const last = new Date(Date.UTC(month.getUTCFullYear(), month.getUTCMonth() + 1, 0)).getUTCDate();
  return toDate(month.setUTCDate(Math.min(day.getUTCDate(), last)));
}

const DAYS = { day: 1, week: 7 };
const MONTHS = { month: 1, quarter: 3, year: 12 };

export type Unit = keyof typeof DAYS | keyof typeof MONTHS;

/** The unit that is called so (`month` or `months`); undefined if dates cannot be moved by it. */
export function unitOf(name: string): Unit | undefined {
  const unit = name.replace(/s$/, '');
  return Object.hasOwn(DAYS, unit) || Object.hasOwn(MONTHS, unit) ? (unit as Unit) : undefined;
}

export const add = (date: string, amount: number, unit: Unit): string =>
  unit === 'day' || unit === 'week'
    ? addDays(date, amount * DAYS[unit])
    : addMonths(date, amount * MONTHS[unit]);

/** The first day of the week (Monday), month, quarter or year. */
export function startOf(date: string, unit: Unit): string {
  const day = new Date(toMs(date));
  if (unit === 'week') return addDays(date, -((day.getUTCDay() + 6) % 7));
  if (unit === 'month') return `${date.slice(0, 7)}-01`;
  if (unit === 'quarter')
    return toDate(Date.UTC(day.getUTCFullYear(), Math.floor(day.getUTCMonth() / 3) * 3, 1));
  return unit === 'year' ? `${date.slice(0, 4)}-01-01` : date.slice(0, 10);
}

export const todayIn = (timezone: string, now = new Date()): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(now);

/** The time of the day, to the minute: `09:05`. */
export const clockIn = (timezone: string, now: Date): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: timezone, timeStyle: 'short' }).format(now);

export const isDate = (text: string) => /^\d{4}-\d{2}-\d{2}/.test(text);

/** The first and the last day of a range, or undefined if its words are not known here. */
export function daysOf(range: string | string[], today: string): [string, string] | undefined {
  const [from, to = from] = Array.isArray(range) ? range : [range];
  if (from && to && isDate(from) && isDate(to)) return [from.slice(0, 10), to.slice(0, 10)];
  if (Array.isArray(range) && range.length > 1) return undefined;
  const words = String(from).toLowerCase().trim();
  if (words === 'today') return [today, today];
  if (words === 'yesterday') return [addDays(today, -1), addDays(today, -1)];
  const [, which, count = '1', name = ''] = /^(last|this)\s+(?:(\d{1,4})\s+)?([a-z]+)$/.exec(words) ?? [];
  const unit = unitOf(name);
  if (!which || !unit) return undefined;
  const start = startOf(today, unit);
  if (which === 'this') return [start, addDays(add(start, 1, unit), -1)];
  return [add(start, -Number(count), unit), addDays(start, -1)];
}
