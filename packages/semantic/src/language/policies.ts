/** `access_policy`, as a file writes it. */
import type { Operator, PolicyValue } from '../model.ts';
import type { Problems, Spot } from '../problems.ts';
import {
  allOr,
  describeKeys,
  list,
  mention,
  type Name,
  needed,
  neverBlank,
  object,
  oneOf,
  optional,
  orElse,
  type Reader,
  text,
  truth,
  withSchema,
} from '../read.ts';
import { shorten, type Value } from '../yaml.ts';
import { NO_NAME } from './members.ts';
import { define } from './schemas.ts';

/** For each operator, the least and the largest number of values. */
export const OPERATORS: Record<Operator, readonly [number, number]> = {
  equals: [1, Number.POSITIVE_INFINITY],
  notEquals: [1, Number.POSITIVE_INFINITY],
  contains: [1, Number.POSITIVE_INFINITY],
  notContains: [1, Number.POSITIVE_INFINITY],
  startsWith: [1, Number.POSITIVE_INFINITY],
  notStartsWith: [1, Number.POSITIVE_INFINITY],
  endsWith: [1, Number.POSITIVE_INFINITY],
  notEndsWith: [1, Number.POSITIVE_INFINITY],
  gt: [1, 1],
  gte: [1, 1],
  lt: [1, 1],
  lte: [1, 1],
  set: [0, 0],
  notSet: [0, 0],
  inDateRange: [1, 2],
  notInDateRange: [1, 2],
  beforeDate: [1, 1],
  beforeOrOnDate: [1, 1],
  afterDate: [1, 1],
  afterOrOnDate: [1, 1],
};
const OPERATOR_NAMES = Object.keys(OPERATORS) as Operator[];

export interface RawValue {
  readonly value: PolicyValue;
  readonly spot: Spot;
}

const VIEWER = /^\{\s*(userAttributes|securityContext)((?:\.[A-Za-z0-9_-]+)+)\s*\}$/;
const VALUES_MAX = 1000;

const policyValue: Reader<RawValue> = withSchema(
  (value, problems) => {
    if (value.kind !== 'text') {
      problems.add(value, 'bad_value', 'This must be a text, a number, `true` or `false`.', VIEWER_HINT);
      return { value: { literal: '' }, spot: value };
    }
    const match = VIEWER.exec(value.text.trim());
    if (match) {
      const path = match[2]!.slice(1).split('.');
      const viewer = match[1] as 'userAttributes' | 'securityContext';
      if (viewer === 'userAttributes' && path.length > 1) {
        problems.add(value, 'bad_reference', 'An attribute has a name and nothing below it.', VIEWER_HINT);
      }
      return { value: { viewer, path }, spot: value };
    }
    if (/[{}]/.test(value.text)) {
      const message = `\`${shorten(value.text)}\` is not a value of the viewer.`;
      problems.add(value, 'bad_reference', message, VIEWER_HINT);
    }
    return { value: { literal: value.text }, spot: value };
  },
  { type: ['string', 'number', 'boolean'] },
);

const VIEWER_HINT =
  'Write `"{ userAttributes.region }"` or `"{ securityContext.customer.id }"`, with quotes.';

const manyValues = list('`values`', policyValue, { max: VALUES_MAX });

/** A list, or one value alone. */
const values: Reader<readonly RawValue[]> = withSchema(
  (value, problems) => (value.kind === 'text' ? [policyValue(value, problems)] : manyValues(value, problems)),
  { anyOf: [policyValue.schema!, manyValues.schema!] },
);

export interface RawComparison {
  readonly member: Name;
  readonly operator: Operator;
  readonly values: readonly RawValue[];
  readonly spot: Spot;
}
export type RawCondition =
  | { readonly and: readonly RawCondition[] }
  | { readonly or: readonly RawCondition[] }
  | RawComparison;

const comparison = object({
  what: 'a filter of a policy',
  fields: {
    member: needed(mention, NO_NAME),
    operator: needed(oneOf(OPERATOR_NAMES), 'equals'),
    values: orElse(values, []),
  },
});

describeKeys('a filter of a policy', { and: [], or: [] });

/** A comparison, or `and` or `or` with a list of conditions. The depth of the file bounds the recursion. */
const condition: Reader<RawCondition> = withSchema(
  (value, problems) => {
    const [entry] = value.kind === 'map' ? value.entries : [];
    if (entry && (entry.key === 'and' || entry.key === 'or')) {
      if ((value as { entries: readonly unknown[] }).entries.length > 1) {
        problems.add(value, 'bad_value', `\`${entry.key}\` stands alone in its item.`);
      }
      const parts = list(`\`${entry.key}\``, condition, { min: 1 })(entry.value, problems);
      return entry.key === 'and' ? { and: parts } : { or: parts };
    }
    return comparisonOf(value, problems);
  },
  define('condition', {
    anyOf: [
      comparison.schema!,
      ...['and', 'or'].map((word) => ({
        type: 'object',
        properties: { [word]: { type: 'array', minItems: 1, items: { $ref: '#/$defs/condition' } } },
        required: [word],
        additionalProperties: false,
      })),
    ],
  }),
);

function comparisonOf(value: Value, problems: Problems): RawComparison {
  const { member, operator, values, where } = comparison(value, problems);
  const [least, most] = OPERATORS[operator];
  if (where.keys.has('operator') && (values.length < least || values.length > most)) {
    const count =
      most === 0
        ? 'no values'
        : least === most
          ? 'one value'
          : `${least} or ${most === 2 ? '2' : 'more'} values`;
    problems.add(where.keys.get('values') ?? value, 'bad_value', `\`${operator}\` takes ${count}.`);
  }
  return { member, operator, values, spot: value };
}

const rowLevel = object({
  what: '`row_level`',
  fields: { filters: optional(list('`filters`', condition, { min: 1 })), allow_all: orElse(truth, false) },
});

const memberLevel = object({
  what: '`member_level`',
  fields: {
    includes: neverBlank(optional(allOr('`includes`', mention))),
    excludes: neverBlank(optional(allOr('`excludes`', mention))),
  },
});

const GROUP_MAX = 255;

export const policy = object({
  what: 'a policy',
  fields: {
    group: optional(text(GROUP_MAX)),
    groups: optional(allOr('`groups`', text(GROUP_MAX))),
    row_level: neverBlank(optional(rowLevel)),
    member_level: neverBlank(optional(memberLevel)),
  },
  refused: {
    role: 'A policy names groups. People match by role as `group: "role:<name>"`.',
    conditions: 'A policy has no `conditions`. Use a filter in `row_level`, or another group.',
  },
});
export type RawPolicy = ReturnType<typeof policy>;
