/** How values of ClickHouse become JSON texts. */
import type { ColumnType } from '../engine.ts';
import { decimalText } from '../process/values.ts';

/** As it stands in the JSON that ClickHouse writes. */
export type Value = string | number | boolean | null | object;
type ToText = (value: Value) => string;

const quoted: ToText = (value) => JSON.stringify(typeof value === 'string' ? value : JSON.stringify(value));
const boolean: ToText = (value) => String(value);

const NOT_NUMBERS: Record<string, string> = {
  nan: '"NaN"',
  '-nan': '"NaN"',
  inf: '"Infinity"',
  '-inf': '"-Infinity"',
};
/** Numbers of up to 32 bits and floats stand there as numbers, all others as texts. */
const number: ToText = (value) =>
  typeof value === 'number' ? `"${value}"` : (NOT_NUMBERS[String(value)] ?? decimalText(String(value)));

const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d:\d\d)(?:\.(\d+))?Z)?$/;
const time: ToText = (value) => {
  const [, day, clock = '00:00:00', fraction = ''] = TIME.exec(String(value)) ?? [];
  return day ? `"${day}T${clock}.${fraction.padEnd(3, '0').slice(0, 3)}"` : quoted(value);
};

const KINDS: [RegExp, ColumnType, ToText][] = [
  [/^(U?Int\d+|Float\d+|BFloat16|Decimal\d*)\b/, 'number', number],
  [/^(Date|Date32|DateTime|DateTime64)\b/, 'time', time],
  [/^Bool$/, 'boolean', boolean],
  [/^(String|FixedString|UUID|IPv4|IPv6|Enum\d*)\b/, 'string', quoted],
];

const WRAPPED = /^(?:Nullable|LowCardinality|SimpleAggregateFunction\(\w+,)\s*\(?(.*)\)$/;

/** Returns the type without wrappers that only say how values are stored, or that some are missing. */
function innerType(type: string): string {
  const inner = WRAPPED.exec(type)?.[1];
  return inner === undefined ? type : innerType(inner.trim());
}

const kindOf = (type: string) => {
  const inner = innerType(type);
  return KINDS.find(([pattern]) => pattern.test(inner));
};

export const columnTypeOf = (type: string): ColumnType => kindOf(type)?.[1] ?? 'other';
export const isNullable = (type: string) => /^(LowCardinality\()?Nullable\(/.test(type);

export function toTextOf(type: string): ToText {
  const toText = kindOf(type)?.[2] ?? quoted;
  return (value) => (value === null ? 'null' : toText(value));
}
