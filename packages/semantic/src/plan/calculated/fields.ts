/** Calculated fields of a query, as they were read. What their names mean depends on the model and the viewer. */
import type { MeasureFormat } from '../../model.ts';
import type { NamedMember } from '../named-member.ts';
import { namesIn, type Tree } from './expressions.ts';

export const AGGREGATES = {
  countDistinct: 'count_distinct',
  sum: 'sum',
  avg: 'avg',
  min: 'min',
  max: 'max',
} as const;
export type Aggregate = keyof typeof AGGREGATES;

/** Fields that are computed from the rows of the answer. */
export const OVER_ROWS = [
  'shareOfTotal',
  'difference',
  'percentDifference',
  'runningTotal',
  'movingAverage',
  'rank',
] as const;
export type WindowFieldKind = (typeof OVER_ROWS)[number];

export const KINDS = ['aggregate', ...OVER_ROWS, 'expression'] as const;

export interface OverRowsField {
  readonly kind: WindowFieldKind;
  /** A measure, or a calculated field before it. */
  readonly of: NamedMember;
  /** The dimension that says which row is before another. */
  readonly along: NamedMember | undefined;
  /** Dimensions: rows that agree in them are computed by themselves. */
  readonly within: readonly NamedMember[] | undefined;
  /** How many rows a moving average takes, this one and those before it. */
  readonly rows: number;
  /** Whether the smallest value has the first rank. */
  readonly ascending: boolean;
}

export type Calculated = NamedMember & {
  readonly title: string | undefined;
  readonly format: MeasureFormat | undefined;
} & (
    | { readonly kind: 'aggregate'; readonly of: NamedMember; readonly aggregate: Aggregate }
    | { readonly kind: 'expression'; readonly expression: string; readonly tree: Tree }
    | OverRowsField
  );

export const ROWS_OF_AVERAGE = { usual: 3, most: 1000 } as const;

/** The names of members in it, and of other calculated fields. */
export const namesOf = (field: Calculated): { readonly name: string }[] =>
  field.kind === 'expression' ? namesIn(field.tree) : [field.of];

/** Names of calculated fields have no dot. */
export const membersNamedBy = (field: Calculated) => namesOf(field).filter(({ name }) => name.includes('.'));
