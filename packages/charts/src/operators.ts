/** How controls compare, by their kind. The first is the usual one. */
import type { Widget } from './types.ts';

const EMPTY = ['is_null', 'is_not_null'];

export const OPERATORS_BY_KIND: Readonly<Record<string, readonly string[]>> = {
  select: ['equals', 'not_equals', ...EMPTY],
  search: ['contains', 'not_contains', 'starts_with', 'ends_with', 'equals', 'not_equals', ...EMPTY],
  'date-range': ['between', 'beforeDate', 'afterDate', ...EMPTY],
  'number-range': [
    'between',
    'equals',
    'not_equals',
    'greater_than',
    'greater_than_or_equal',
    'less_than',
    'less_than_or_equal',
    ...EMPTY,
  ],
};

export const WITHOUT_VALUE: ReadonlySet<string> = new Set(EMPTY);

/** What the author lets viewers choose from, if anything. */
export function operatorsOf(config: Widget['config']): string[] {
  const known = OPERATORS_BY_KIND[String(config?.kind ?? 'select')] ?? OPERATORS_BY_KIND.select!;
  const given: unknown = config?.operators;
  const offered = Array.isArray(given) ? given.filter((one) => known.includes(one)) : [];
  return offered.length ? offered : [known[0]!];
}
