/** The session's time zone must be UTC: times without a zone are UTC. */
import { STANDARD } from '../../sql-texts.ts';
import type { Dialect } from '../render.ts';
import type { ValueType } from '../sql.ts';
import { BOUNDED_TEXT, quoted, truncations, valuesTable } from './common.ts';

const TYPES: Record<ValueType, string> = {
  text: 'text',
  integer: 'bigint',
  bigInteger: 'numeric',
  decimal: 'numeric',
  double: 'double precision',
  boolean: 'boolean',
  instant: 'timestamptz',
  local: 'timestamp',
};

export const postgres: Dialect = {
  name: 'postgres',
  quote: quoted,
  parameter: ({ type }, number) => `$${number}::${TYPES[type]}`,
  textOf: ({ text }) => text,
  ending: '',
  rows: valuesTable,
  lexing: STANDARD,
  calls: {
    ...truncations,
    asText: (x) => `(${x})::text`,
    // Code points, as in DuckDB, so that a page holds the same rows on every engine.
    textOrder: (x) => `(${x})::text collate "C"`,
    like: (x, pattern, mark) => `(${x} like ${pattern} escape ${mark})`,
    ilikeText: (x, pattern, mark) => `(${x} ilike ${pattern} escape ${mark})`,
    ilike: (x, pattern) => `(${x})::text ilike ${pattern}`,
    // It rounds only decimals to a number of digits. Without limits, the text '1e60000' would be 60,000 digits.
    round: (x, digits) => `round(cast(${x} as numeric(76, 38)), ${digits})`,
    // PostgreSQL has no function that fails, but it cannot cast such a text. It computes equal aggregates once.
    boundedText: (x) =>
      `left(${x}, cast(case when octet_length(${x}) > ${BOUNDED_TEXT.bytes} then '${BOUNDED_TEXT.error}' else '${BOUNDED_TEXT.bytes}' end as integer))`,
    local: (x, zone) => `timezone(${zone}, (${x})::timestamptz)`,
    // A quotient of whole numbers has decimals.
    divisor: (x) => `nullif((${x})::numeric, 0)`,
    sameNumber: (x) => x!,
    approxDistinct: (x) => `count(distinct ${x})`,
    binSeconds: (x, seconds, origin) => `date_bin(${seconds} * interval '1 second', ${x}, ${origin})`,
    binMonths: (x, months, base) =>
      `(timestamp '2000-01-01' + interval '1 month' * (${base} + ${months} * floor(((extract(year from ${x}) - 2000) * 12 + extract(month from ${x}) - 1 - ${base})::numeric / ${months}))::int)`,
    addSeconds: (x, seconds) => `(${x} + ${seconds} * interval '1 second')`,
    numbersBelow: (count) => `generate_series(0, ${count} - 1)`,
  },
};
