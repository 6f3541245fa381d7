/** Parts of Vega-Lite that several kinds of charts share. */
import { type Column, fieldOf } from './columns.ts';
import type { Describe, Visualization } from './types.ts';

export type Part = Record<string, unknown>;

/** How Vega-Lite calls the buckets of the granularities. Others have none. */
const UNITS: Record<string, string> = {
  year: 'utcyear',
  quarter: 'utcyearquarter',
  month: 'utcyearmonth',
  week: 'utcyearweek',
  day: 'utcyearmonthdate',
  hour: 'utcyearmonthdatehours',
};

type Axis = NonNullable<NonNullable<Visualization['axes']>['y']>;

/** Without a title, pages show that of the member. */
function axisPart(axis: Axis | null | undefined, more: Part = {}): Part | null {
  if (axis?.hidden) return null;
  return {
    ...more,
    ...(axis?.title == null ? {} : { title: axis.title || null }),
    ...(axis?.grid == null ? {} : { grid: axis.grid }),
  };
}

const scalePart = (axis: Axis | null | undefined, more: Part = {}): Part => ({
  ...more,
  ...(axis?.scale && axis.scale !== 'linear' ? { type: axis.scale === 'log' ? 'symlog' : axis.scale } : {}),
  ...(axis?.zero == null ? {} : { zero: axis.zero }),
  ...(axis?.min == null ? {} : { domainMin: axis.min }),
  ...(axis?.max == null ? {} : { domainMax: axis.max }),
  ...(axis?.min == null && axis?.max == null ? {} : { nice: false }),
});

/** A measure along an axis. `value` is the field of several measures that were folded into one. */
export function amount(field: string, axis: Axis | null | undefined, more: Part = {}): Part {
  const { scale, axis: given, ...rest } = more as { scale?: Part; axis?: Part };
  const part = scalePart(axis, scale);
  return {
    field,
    type: 'quantitative',
    axis: axisPart(axis, { title: null, ...given }),
    ...(Object.keys(part).length ? { scale: part } : {}),
    ...rest,
  };
}

/** A dimension or a time along an axis. Bars are as wide as their bucket of time; lines go through its begin. */
export function along(
  column: Column,
  axis: Axis | null | undefined,
  { isBand, sort }: { isBand: boolean; sort?: unknown },
): Part {
  const field = fieldOf(column.member);
  const quiet = axisPart(axis, { title: null });
  if (column.kind === 'time') {
    const timeUnit = UNITS[column.granularity ?? ''];
    if (isBand && !timeUnit)
      return {
        field,
        type: 'ordinal',
        timeUnit: 'utcyearmonthdate',
        axis: quiet && { labelAngle: 0, ...quiet },
      };
    return { field, type: 'temporal', scale: { type: 'utc' }, axis: quiet, ...(isBand ? { timeUnit } : {}) };
  }
  if (column.kind === 'measure' || (column.kind === 'number' && !isBand))
    return amount(field, axis, { scale: { zero: axis?.zero ?? false } });
  return { field, type: 'nominal', sort: sort ?? null, axis: quiet && { labelAngle: 0, ...quiet } };
}

/** The order of names along an axis. Without a setting, that of the rows. */
export function sortOf({ sort }: Visualization, value: string, isStacked: boolean): unknown {
  if (!sort || sort.by === 'query') return sort?.desc ? undefined : null;
  const order = sort.desc ? 'descending' : 'ascending';
  if (sort.by === 'name') return order;
  return { field: value, op: isStacked ? 'sum' : 'max', order };
}

const POSITIONS = ['top', 'bottom', 'left', 'right'];

/** The legend; null for none. */
export function legendOf({ legend }: Visualization, isNeeded = true): Part | null | undefined {
  if (legend === 'none' || (!isNeeded && !legend)) return null;
  return legend && POSITIONS.includes(legend)
    ? {
        orient: legend,
        title: null,
        ...(legend === 'top' || legend === 'bottom' ? {} : { direction: 'vertical' }),
      }
    : { title: null };
}

const EARLIER = '.previous';
/** The parameter with the words around the title of a measure of an earlier period. Pages put their own there. */
export const EARLIER_WORDS = 'earlier_words';
/** The column that pages add to the rows for the earlier period of a measure. */
export const earlierMember = (measure: string) => measure + EARLIER;
/** The measure that a column is about. */
export const baseOf = (member: string) =>
  member.endsWith(EARLIER) ? member.slice(0, -EARLIER.length) : member;

/** How numbers are written at marks. Axes find their own format from the measure. */
export function formatOf(member: string, visualization: Visualization, describe?: Describe): string {
  const base = baseOf(member);
  const own = visualization.formats?.[base];
  const kind = own?.type ?? kindOf(describe?.(base)?.format);
  const places = own?.decimalPlaces;
  if (kind === 'percent') return `.${places ?? 1}~%`;
  if (kind === 'currency') return places == null ? '$.3~s' : `$,.${places}f`;
  return places == null ? '.3~s' : `,.${places}f`;
}

const kindOf = (format: string | undefined) =>
  format === 'percent' || format === 'currency' ? format : 'number';

/** A text, or an object of texts, in an expression of Vega, whose grammar is older than JSON's. */
export const quoted = (value: string | Record<string, string>) =>
  JSON.stringify(value).replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029');
export const datum = (field: string) => `datum[${quoted(field)}]`;
