/** Whether an element of a list, such as one of the emails in a request, matches the filter of a path. */
import type { Comparison, Filter, FilterValue } from './filter.ts';

type Element = Readonly<Record<string, unknown>>;

export function matches(filter: Filter, element: Element): boolean {
  switch (filter.op) {
    case 'and':
      return filter.filters.every((each) => matches(each, element));
    case 'or':
      return filter.filters.some((each) => matches(each, element));
    case 'not':
      return !matches(filter.filter, element);
    case 'some':
      return false;
    case 'pr':
      return partOf(element, filter.path.name) !== null;
    default:
      return compares(filter.op, partOf(element, filter.path.name), filter.value);
  }
}

const partOf = (element: Element, name: string) =>
  (Object.hasOwn(element, name) ? element[name] : null) ?? null;

/** Texts are compared without case, and a boolean may be sent as text. */
function compares(op: Comparison, held: unknown, wanted: FilterValue): boolean {
  const [a, b] = [held, wanted].map((value) => (value === null ? null : String(value).toLowerCase()));
  if (op === 'eq') return a === b;
  if (op === 'ne') return a !== b;
  if (a == null || b == null) return false;
  switch (op) {
    case 'co':
      return a.includes(b);
    case 'sw':
      return a.startsWith(b);
    case 'ew':
      return a.endsWith(b);
    case 'gt':
      return a > b;
    case 'ge':
      return a >= b;
    case 'lt':
      return a < b;
    case 'le':
      return a <= b;
  }
}
