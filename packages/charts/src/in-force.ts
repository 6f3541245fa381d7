/** The filters in force in words, for paper and pictures: they show no open menus. */
import { daysOf, todayIn } from './dates.ts';
import type { Formats } from './format.ts';
import { visibilityOf } from './presets.ts';
import type { CrossFilters } from './query.ts';
import type { FilterValue, Widget } from './types.ts';

export interface FilterInForce {
  title: string;
  text: string;
}

const SIGNS: Record<string, string> = {
  greater_than: '> ',
  greater_than_or_equal: '≥ ',
  less_than: '< ',
  less_than_or_equal: '≤ ',
  gt: '> ',
  gte: '≥ ',
  beforeDate: '< ',
  afterDate: '> ',
  lt: '< ',
  lte: '≤ ',
};
/** More values than these are counted. */
const NAMED_MAX = 5;

const memberTitle = (member: string) => member.split('.').at(-1)!.replaceAll('_', ' ');

export const titleOf = ({ config }: Widget): string =>
  String(config?.title ?? memberTitle(String(config?.member)));

export const listOf = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => each !== null && each !== undefined).map(String);

/** The days of a range, or undefined if it is in words that the page does not know. */
export const rangeOf = (value: unknown, timezone: string | undefined) =>
  value === undefined || value === null
    ? undefined
    : daysOf(value as string | string[], todayIn(timezone ?? 'UTC'));

interface FilterTextOptions {
  formats: Pick<Formats, 'period' | 'count'>;
  locale: string;
  timezone: string | undefined;
}

function filterText(
  { operator, value }: FilterValue,
  kind: unknown,
  { formats, locale, timezone }: FilterTextOptions,
) {
  const values = listOf(value);
  const isRange = operator === 'between' || operator === 'inDateRange';
  if (isRange && kind === 'number-range') {
    const [low, high] = values.map((each) => (Math.abs(Number(each)) >= Number.MAX_SAFE_INTEGER ? '' : each));
    return low && high ? `${low} – ${high}` : low ? `≥ ${low}` : `≤ ${high ?? ''}`;
  }
  const days = isRange || kind === 'date-range' ? rangeOf(value, timezone) : undefined;
  if (days) return formats.period(days);
  if (operator === 'is_null' || operator === 'notSet') return '–';
  if (operator === 'is_not_null' || operator === 'set') return '≠ –';
  const named = values.slice(0, NAMED_MAX);
  const more = values.length - named.length;
  const list = new Intl.ListFormat(locale, { type: 'unit', style: 'short' }).format([
    ...named,
    ...(more ? [`+${formats.count(more)}`] : []),
  ]);
  const isNegative = /^not/.test(operator);
  const plain = operator.replace(/^not_?/, '').toLowerCase();
  const before = plain === 'contains' || plain.startsWith('ends') ? '…' : '';
  const after = plain === 'contains' || plain.startsWith('starts') ? '…' : '';
  return `${isNegative ? '≠ ' : (SIGNS[operator] ?? '')}${before}${list}${after}`;
}

export function inForce(
  filterWidgets: readonly Widget[],
  filters: ReadonlyMap<string, FilterValue>,
  writing: FilterTextOptions,
): FilterInForce[] {
  const seen = new Set<string>();
  return filterWidgets.flatMap((widget) => {
    const member: string = widget.config!.member;
    const filter = filters.get(member);
    if (!filter || seen.has(member) || visibilityOf(widget) === 'hidden') return [];
    seen.add(member);
    return [{ title: titleOf(widget), text: filterText(filter, widget.config?.kind, writing) }];
  });
}

/** What clicks on charts filter the others by. */
export const crossInForce = (crossFilters: CrossFilters, writing: FilterTextOptions): FilterInForce[] =>
  [...crossFilters.values()].flatMap(({ narrowings }) =>
    narrowings.map((narrowing) => {
      const filter =
        'range' in narrowing
          ? { operator: 'between', value: narrowing.range }
          : { operator: narrowing.value === null ? 'is_null' : 'equals', value: narrowing.value };
      return { title: memberTitle(narrowing.member), text: filterText(filter, undefined, writing) };
    }),
  );
