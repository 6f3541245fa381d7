/** The columns of an answer, in which order its rows are, and how many of them. */
import type { DimensionType, Unit } from '../model.ts';
import { type Periods, periodsOfUnit } from '../times/calendar.ts';
import { queryError } from './errors.ts';
import type { DimensionMember, MeasureMember } from './members.ts';
import type { Order, Query } from './query.ts';
import { requirePeriods } from './rows.ts';
import { type Column, call } from './sql.ts';

export interface OutputColumn {
  /** The name of the column in the statement. */
  readonly column: string;
  /** As the query names it, with its granularity. */
  readonly key: string;
  readonly type: DimensionType;
  readonly kind: 'dimension' | 'timeDimension' | 'measure';
}

/** A column that is a member. */
export type Output = OutputColumn &
  (
    | { readonly kind: 'dimension'; readonly member: DimensionMember; readonly granularity: undefined }
    | { readonly kind: 'timeDimension'; readonly member: DimensionMember; readonly granularity: string }
    | { readonly kind: 'measure'; readonly member: MeasureMember; readonly granularity: undefined }
  );

export interface PlainTime {
  readonly key: string;
  readonly sameAs: string;
}

export const orderOf = (query: Query, columns: readonly OutputColumn[]) =>
  query.order ?? (query.ungrouped ? [] : usualOrder(columns));

export function periodsBy({ dimension }: DimensionMember, granularity: string): Periods {
  const custom = dimension.granularities.get(granularity);
  return custom ? requirePeriods(custom) : periodsOfUnit(granularity as Unit);
}

export function plainTimesOf(outputs: readonly Output[]): PlainTime[] {
  const smallest = new Map<string, { readonly sameAs: string; readonly seconds: number }>();
  for (const { kind, key, member, granularity } of outputs) {
    if (kind !== 'timeDimension') continue;
    const periods = periodsBy(member, granularity);
    const seconds = 'seconds' in periods ? periods.seconds : periods.months * MONTH_SECONDS;
    if (seconds < (smallest.get(member.key)?.seconds ?? Number.POSITIVE_INFINITY))
      smallest.set(member.key, { sameAs: key, seconds });
  }
  // The query may ask for the time itself.
  for (const { key } of outputs) smallest.delete(key);
  return [...smallest].map(([key, { sameAs }]) => ({ key, sameAs }));
}

const MONTH_SECONDS = 30.4 * 86_400;

/** Order, limit and offset. Rows that are equal in the order are told apart by the other columns, so that pages fit. */
export function pageOf(
  columns: readonly Column[],
  outputs: readonly OutputColumn[],
  plainTimes: readonly PlainTime[],
  query: Query,
  rowsMax: number,
) {
  const limit = Math.min(query.limit ?? rowsMax, rowsMax);
  const page = { limit, offset: query.offset };
  const given = orderOf(query, outputs);
  if (query.ungrouped && given.length === 0) return page;
  const ordered = new Map(given.map((item) => [indexOf(item, outputs, plainTimes), item.descending]));
  outputs.forEach(({ kind }, i) => {
    if (kind !== 'measure' && !ordered.has(i)) ordered.set(i, false);
  });
  const order = [...ordered].map(([i, descending]) => {
    const { sql: made } = columns[i]!;
    return { sql: outputs[i]!.type === 'string' ? call('textOrder', made) : made, descending };
  });
  return { ...page, order };
}

/** The order where the query asks for none: by time; or else the largest first; or else by the first dimension. */
function usualOrder(columns: readonly OutputColumn[]): Order[] {
  const time = columns.find(({ kind }) => kind === 'timeDimension');
  const first = time ?? columns.find(({ kind }) => kind === 'measure') ?? columns[0]!;
  return [{ name: first.key, path: '', descending: first.kind === 'measure' }];
}

function indexOf(
  { name, path }: Order,
  outputs: readonly OutputColumn[],
  plainTimes: readonly PlainTime[],
): number {
  const indexByKey = (wanted: string) => outputs.findIndex(({ key }) => key === wanted);
  const index = indexByKey(name);
  if (index >= 0) return index;
  // The plain name of a time is a column too: the one of its smallest granularity.
  const plain = plainTimes.find(({ key }) => key === name);
  if (plain) return indexByKey(plain.sameAs);
  throw queryError(
    'invalid_query',
    `A query is ordered by members that it asks for, and not by \`${name.slice(0, 100)}\`.`,
    path,
  );
}
