/** Whether a value passes a comparison. */
import type { Viewer } from '../../src/index.ts';
import type { Cell } from '../engines.ts';
import { localText } from './times.ts';
import type { PolicyLeaf, Type } from './world.ts';

type Operand = string | number | boolean | null;

export function holds(
  type: Type,
  value: Cell,
  operator: string,
  values: readonly Operand[],
  zone: string,
): boolean {
  if (operator === 'set') return value !== null;
  if (operator === 'notSet') return value === null;
  if (value === null) {
    if (operator === 'equals') return values.includes(null);
    if (operator === 'notEquals') return !values.includes(null);
    return operator.startsWith('not') && operator !== 'notInDateRange';
  }
  const given = values.filter((item) => item !== null);
  if (operator === 'equals') return given.some((item) => same(type, value, item));
  if (operator === 'notEquals') return !given.some((item) => same(type, value, item));
  if (type === 'time')
    return holdsForTime(localText(String(value), zone).slice(0, 10), operator, given.map(String));
  if (['gt', 'gte', 'lt', 'lte'].includes(operator)) {
    const order = compare(type, value, given[0]!);
    return { gt: order > 0, gte: order >= 0, lt: order < 0, lte: order <= 0 }[operator]!;
  }
  const text = String(value).toLowerCase();
  const found = given
    .map((item) => String(item).toLowerCase())
    .some((item) => {
      if (/startsWith/i.test(operator)) return text.startsWith(item);
      return /endsWith/i.test(operator) ? text.endsWith(item) : text.includes(item);
    });
  return operator.startsWith('not') ? !found : found;
}

const same = (type: Type, value: Cell, given: Operand) =>
  type === 'number' ? compare(type, value, given) === 0 : String(value) === String(given);

function compare(type: Type, value: Cell, given: Operand): number {
  const [a, b] = [String(value), String(given)];
  if (type === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b));
  if (/^-?\d+$/.test(a) && /^-?\d+$/.test(b))
    return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  return Number(a) - Number(b);
}

/** Days of the local calendar, which order as texts do. */
function holdsForTime(day: string, operator: string, [from, to = from]: readonly string[]): boolean {
  if (operator === 'inDateRange') return day >= from! && day <= to!;
  if (operator === 'notInDateRange') return day < from! || day > to!;
  if (operator === 'beforeDate') return day < from!;
  if (operator === 'beforeOrOnDate') return day <= from!;
  return operator === 'afterDate' ? day > from! : day >= from!;
}

/** A value of the viewer that is missing, null, empty or of another type makes the comparison false. */
export function holdsInPolicy(
  type: Type,
  value: Cell,
  { operator, values }: PolicyLeaf,
  viewer: Viewer,
): boolean {
  const given: Operand[] = [];
  for (const text of values) {
    const attribute = /^\{ userAttributes\.(\w+) \}$/.exec(text)?.[1];
    if (attribute === undefined) {
      given.push(text);
      continue;
    }
    const found = viewer.userAttributes[attribute] as Operand | Operand[] | undefined;
    const list = Array.isArray(found) ? found : [found];
    if (!list.length || list.some((item) => item === undefined || item === null)) return false;
    if (/contains|startsWith|endsWith/i.test(operator) && list.includes('')) return false;
    given.push(...(list as Operand[]));
  }
  if (type === 'number' && given.some((item) => !/^-?\d+(\.\d+)?$/.test(String(item)))) return false;
  if ((operator === 'gt' || operator === 'lte') && given.length !== 1) return false;
  if (value === null) return operator === 'notSet';
  return holds(type, value, operator, given, 'UTC');
}
