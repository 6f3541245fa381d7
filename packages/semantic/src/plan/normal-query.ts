/** The query as it was understood. Clients draw charts by it, and it can be sent again. */
import { writeLocal } from '../times/moments.ts';
import type { Zone } from '../times/zones.ts';
import type { Calculated } from './calculated/fields.ts';
import type { QueryMembers } from './find.ts';
import type { Comparison, Filter, FilterValue, Order, Query } from './query.ts';

export interface NormalQuery {
  readonly measures: readonly string[];
  readonly dimensions: readonly string[];
  readonly timeDimensions: readonly NormalTimeDimension[];
  readonly segments: readonly string[];
  readonly filters: readonly NormalFilter[];
  readonly order: readonly { readonly id: string; readonly desc: boolean }[];
  readonly limit: number;
  readonly offset: number;
  readonly timezone: string;
  readonly total: boolean;
  readonly ungrouped: boolean;
  readonly joinHints?: readonly (readonly string[])[];
  readonly calculated?: readonly NormalCalculated[];
}

export interface NormalTimeDimension {
  readonly dimension: string;
  readonly granularity?: string;
  /** The first and the last millisecond, as clocks in the time zone of the query show them. */
  readonly dateRange?: readonly [string, string];
}

export interface NormalCalculated {
  readonly name: string;
  readonly kind: string;
  readonly [setting: string]: unknown;
}

export type NormalFilter =
  | { readonly and: readonly NormalFilter[] }
  | { readonly or: readonly NormalFilter[] }
  | { readonly member: string; readonly operator: string; readonly values: readonly FilterValue[] };

export function normalQuery(
  query: Query,
  { times }: QueryMembers,
  { zone, order, limit }: { zone: Zone; order: readonly Order[]; limit: number },
): NormalQuery {
  const names = (members: readonly { name: string }[]) => [...new Set(members.map(({ name }) => name))];
  return {
    measures: names(query.measures),
    dimensions: names(query.dimensions),
    timeDimensions: times.map(({ member, granularity, span }) => ({
      dimension: member.key,
      ...(granularity === undefined ? {} : { granularity }),
      ...(span ? { dateRange: [localTime(span.from.ms, zone), localTime(span.to.ms - 1, zone)] } : {}),
    })),
    segments: names(query.segments),
    filters: query.filters.map(normalFilter),
    order: order.map(({ name, descending }) => ({ id: name, desc: descending })),
    limit,
    offset: query.offset,
    timezone: zone.name,
    total: query.total,
    ungrouped: query.ungrouped,
    ...(query.joinHints.length
      ? { joinHints: query.joinHints.map((hint) => hint.map(({ name }) => name)) }
      : {}),
    ...(query.calculated.length ? { calculated: query.calculated.map(normalCalculated) } : {}),
  };
}

function normalCalculated(field: Calculated): NormalCalculated {
  const { name, kind, title, format } = field;
  const common = { name, ...(title === undefined ? {} : { title }), ...(format ? { format } : {}), kind };
  if (field.kind === 'expression') return { ...common, expression: field.expression };
  if (field.kind === 'aggregate') return { ...common, of: field.of.name, function: field.aggregate };
  const { along, within, rows, ascending } = field;
  return {
    ...common,
    of: field.of.name,
    ...(along ? { along: along.name } : {}),
    ...(within ? { within: within.map((one) => one.name) } : {}),
    ...(kind === 'movingAverage' ? { rows } : {}),
    ...(ascending ? { direction: 'asc' } : {}),
  };
}

const localTime = (ms: number, zone: Zone) => writeLocal(zone.localOf(ms));

function normalFilter(filter: Filter): NormalFilter {
  if ('and' in filter) return { and: filter.and.map(normalFilter) };
  if ('or' in filter) return { or: filter.or.map(normalFilter) };
  const { name, operator, values } = filter satisfies Comparison;
  return { member: name, operator, values };
}
