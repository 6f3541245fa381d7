/**
 * ClickHouse has no times without a zone: a local time is the instant at which a clock in UTC shows it. By default it
 * also differs from other databases in joins without a partner (no nulls), in aggregates of nothing (no nulls), in times
 * before 1970 and in names that a column and a table share, so each statement ends with the settings that it needs.
 */
import { CLICKHOUSE } from '../../sql-texts.ts';
import type { Dialect } from '../render.ts';
import type { Value, ValueType } from '../sql.ts';
import { quoted } from './common.ts';

const TIME = "DateTime64(6, 'UTC')";

const TYPES: Record<Exclude<ValueType, 'decimal' | 'bigInteger'>, string> = {
  text: 'String',
  integer: 'Int64',
  double: 'Float64',
  boolean: 'Bool',
  instant: TIME,
  local: TIME,
};

const UINT64_MAX = 2n ** 64n - 1n;

/** Decimals have all the digits that there can be, because a comparison with a narrow one is an error if digits are lost. */
function typeOf({ type, text }: Value): string {
  if (type === 'decimal') return `Decimal(76, ${text.length - text.indexOf('.') - 1})`;
  if (type !== 'bigInteger') return TYPES[type];
  return BigInt(text) >= 0n && BigInt(text) <= UINT64_MAX ? 'UInt64' : 'Decimal(76, 0)';
}

/** Times are written without a zone. */
function valueText({ type, text }: Value): string {
  if (type !== 'instant' && type !== 'local') return text;
  if (text === 'infinity') return '9999-12-31 23:59:59.999999';
  if (text === '-infinity') return '0001-01-01 00:00:00.000000';
  return text.replace('T', ' ').replace('Z', '');
}

const SETTINGS = [
  'join_use_nulls = 1',
  'aggregate_functions_null_for_empty = 1',
  "count_distinct_implementation = 'uniqExact'",
  'enable_extended_results_for_datetime_functions = 1',
  'prefer_column_name_to_alias = 1',
  // What stands behind a policy in a CASE is computed only for rows that the policy lets through.
  "short_circuit_function_evaluation = 'force_enable'",
];

const time = (x: string) => `toDateTime64(${x}, 6, 'UTC')`;
const startOf = (unit: string) => (x: string) => time(`toStartOf${unit}(${x})`);

export const clickhouse: Dialect = {
  name: 'clickhouse',
  quote: (name) => quoted(name.replaceAll('\\', '\\\\')),
  parameter: (value, number) => `{p${number}:${typeOf(value)}}`,
  textOf: valueText,
  ending: `\nsettings ${SETTINGS.join(', ')}`,
  rows(rows, columns, alias) {
    const tuples = rows.map((row) => `(${row.join(', ')})`).join(', ');
    const names = columns.map((name, i) => `tupleElement(row, ${i + 1}) as ${name}`);
    return `(select ${names.join(', ')} from (select arrayJoin([${tuples}]) as row)) as ${alias}`;
  },
  keeping: (condition) => `array join if(${condition}, [1], []) as oriel_kept`,
  lexing: CLICKHOUSE,
  calls: {
    'truncate second': startOf('Second'),
    'truncate minute': startOf('Minute'),
    'truncate hour': startOf('Hour'),
    'truncate day': startOf('Day'),
    'truncate week': (x) => time(`toStartOfWeek(${x}, 1)`),
    'truncate month': startOf('Month'),
    'truncate quarter': startOf('Quarter'),
    'truncate year': startOf('Year'),
    asText: (x) => `toString(${x})`,
    textOrder: (x) => `toString(${x})`,
    ilike: (x, pattern) => `toString(${x}) ilike ${pattern}`,
    // Only the SQL of callers has these, which does not run here yet.
    like: (x, pattern) => `(${x} like ${pattern})`,
    ilikeText: (x, pattern) => `(${x} ilike ${pattern})`,
    boundedText: (x) => x!,
    round: (x, digits) => `round(${x}, ${digits})`,
    local: (x, zone) => `addSeconds(${time(x)}, timezoneOffset(toTimeZone(${time(x)}, ${zone})))`,
    // A decimal divided by a decimal would have no more digits than the first one.
    divisor: (x) => `nullif(toFloat64(${x}), 0)`,
    // It knows no type for both signed and unsigned whole numbers.
    sameNumber: (x) => `toFloat64(${x})`,
    approxDistinct: (x) => `uniq(${x})`,
    binSeconds: (x, seconds, origin) =>
      `subtractMicroseconds(${x}, positiveModulo(toUnixTimestamp64Micro(${x}) - toUnixTimestamp64Micro(${origin}), ${seconds} * 1000000))`,
    binMonths: (x, months, base) =>
      `addMonths(${time("'2000-01-01 00:00:00'")}, toInt32(${base} + ${months} * floor(((toYear(${x}) - 2000) * 12 + toMonth(${x}) - 1 - ${base}) / ${months})))`,
    addSeconds: (x, seconds) => `addSeconds(${x}, ${seconds})`,
    numbersBelow: (count) => `arrayJoin(range(toUInt64(${count})))`,
  },
};
