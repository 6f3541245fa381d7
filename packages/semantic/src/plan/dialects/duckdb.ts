/** The session's time zone must be UTC: times without a zone are UTC. */
import { STANDARD } from '../../sql-texts.ts';
import type { Dialect } from '../render.ts';
import type { Value, ValueType } from '../sql.ts';
import { BOUNDED_TEXT, quoted, truncations, valuesTable } from './common.ts';

const TYPES: Record<Exclude<ValueType, 'decimal'>, string> = {
  text: 'varchar',
  integer: 'bigint',
  bigInteger: 'hugeint',
  double: 'double',
  boolean: 'boolean',
  instant: 'timestamptz',
  local: 'timestamp',
};

/** A decimal says its own number of digits, because DuckDB would cut them off at three. */
const typeOf = ({ type, text }: Value) =>
  type === 'decimal'
    ? `decimal(${text.replace(/\D/g, '').length}, ${text.length - text.indexOf('.') - 1})`
    : TYPES[type];

/**
 * DuckDB tries all ways to share a text among the `%` of a pattern with `_` or ESCAPE, and cannot be interrupted: for
 * four of them and 2000 texts of 100 characters, this takes minutes. Plain patterns and regular expressions are fast.
 */
const like = (x: string, pattern: string, expression: string | undefined) =>
  expression === undefined ? `(${x} like ${pattern})` : `regexp_full_match(${x}, ${expression}, 's')`;

export const duckdb: Dialect = {
  name: 'duckdb',
  quote: quoted,
  parameter: (value, number) => `$${number}::${typeOf(value)}`,
  textOf: ({ text }) => text,
  ending: '',
  rows: valuesTable,
  lexing: STANDARD,
  calls: {
    ...truncations,
    asText: (x) => `(${x})::varchar`,
    textOrder: (x) => `(${x})::varchar`,
    ilike: (x, pattern) => `(${x})::varchar ilike ${pattern} escape '\\'`,
    like: (x, pattern, _mark, expression) => like(x!, pattern!, expression),
    ilikeText: (x, pattern, _mark, expression) =>
      like(`lower(${x})`, `lower(${pattern})`, expression && `lower(${expression})`),
    // A lambda, so that the SQL that makes the text is written once.
    boundedText: (x) =>
      `list_transform([${x}], lambda made: case when strlen(made) > ${BOUNDED_TEXT.bytes} then error('${BOUNDED_TEXT.error}') else made end)[1]`,
    round: (x, digits) => `round(${x}, ${digits})`,
    local: (x, zone) => `timezone(${zone}, (${x})::timestamptz)`,
    divisor: (x) => `nullif(${x}, 0)`,
    sameNumber: (x) => x!,
    approxDistinct: (x) => `approx_count_distinct(${x})`,
    binSeconds: (x, seconds, origin) => `time_bucket(to_seconds(${seconds}), ${x}, ${origin})`,
    binMonths: (x, months, base) =>
      `(timestamp '2000-01-01' + to_months((${base} + ${months} * floor(((extract(year from ${x}) - 2000) * 12 + extract(month from ${x}) - 1 - ${base}) / ${months}))::int))`,
    addSeconds: (x, seconds) => `(${x} + to_seconds(${seconds}))`,
    numbersBelow: (count) => `unnest(range(${count}))`,
  },
};
