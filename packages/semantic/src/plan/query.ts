/** A query whose form was checked. Its members may still be unknown. */
import type { Operator } from '../model.ts';
import type { RangeText } from '../times/ranges.ts';
import type { Calculated } from './calculated/fields.ts';
import type { NamedMember } from './named-member.ts';

export type { NamedMember };

export interface Query {
  readonly measures: readonly NamedMember[];
  /** Time dimensions with a granularity are in `timeDimensions`, also if they were given here. */
  readonly dimensions: readonly NamedMember[];
  readonly timeDimensions: readonly TimeDimension[];
  readonly segments: readonly NamedMember[];
  /** Fields of this query alone, computed from members or from each other. */
  readonly calculated: readonly Calculated[];
  readonly filters: readonly Filter[];
  /** Undefined for the usual order. */
  readonly order: readonly Order[] | undefined;
  readonly limit: number | undefined;
  readonly offset: number;
  readonly timezone: string;
  readonly total: boolean;
  readonly ungrouped: boolean;
  /** Whether the answer is computed again, although one may be known. */
  readonly isRenewed: boolean;
  /** Whether the rows of the answer are lists of values, without the names of the columns. */
  readonly isCompact: boolean;
  /** Cubes, each to be joined to the next: the path to take where there are others. */
  readonly joinHints: readonly (readonly NamedMember[])[];
}

export interface TimeDimension extends NamedMember {
  readonly granularity: string | undefined;
  readonly dateRange: RangeText | undefined;
  readonly compareDateRange: readonly RangeText[] | undefined;
}

export type Filter =
  | { readonly and: readonly Filter[]; readonly path: string }
  | { readonly or: readonly Filter[]; readonly path: string }
  | Comparison;

export interface Comparison extends NamedMember {
  /** `measureFilter` keeps the rows that count for the measure. Clients ask so for the rows behind a number. */
  readonly operator: Operator | typeof MEASURE_FILTER;
  readonly values: readonly FilterValue[];
}
export const MEASURE_FILTER = 'measureFilter';
export type FilterValue = string | number | boolean | null;

export interface Order extends NamedMember {
  readonly descending: boolean;
}

export const QUERY_LIMITS = {
  /** Measures, dimensions, time dimensions and segments together. */
  members: 200,
  calculated: 50,
  /** Comparisons in all filters together. */
  filters: 500,
  /** How deep `and` and `or` may be nested. */
  depth: 10,
  /** Values of all filters together. */
  values: 10_000,
  /** The characters of a value. */
  text: 10_000,
  /** Ranges that are compared with each other. */
  comparedRanges: 10,
  /** Cubes in all join hints together. */
  hinted: 100,
} as const;
