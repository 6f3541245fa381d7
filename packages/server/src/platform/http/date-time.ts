/**
 * Checks dates and times. Every value that passes can be stored in PostgreSQL, and is returned with a year of four
 * digits.
 */

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-](0\d|1[0-5]):[0-5]\d)$/i;

const FIRST = Date.parse('0001-01-01T00:00:00Z');
/** The last second is left out, because PostgreSQL rounds to microseconds and may round up into the next year. */
const LAST = Date.parse('9999-12-31T23:59:58.999Z');

export function isDateTime(text: string): boolean {
  const [, year, month, day] = DATE_TIME.exec(text) ?? [];
  if (!year || !isDate(Number(year), Number(month), Number(day))) return false;
  const time = Date.parse(text.toUpperCase());
  return time >= FIRST && time <= LAST;
}

function isDate(year: number, month: number, day: number): boolean {
  const isLeapYear = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, isLeapYear ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}
