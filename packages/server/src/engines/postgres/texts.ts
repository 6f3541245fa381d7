/** How texts of PostgreSQL become JSON texts. */
import type { ColumnType } from '../engine.ts';
import { decimalText, doubleText } from '../process/values.ts';

type ToText = (text: string) => string;

const plain: ToText = (text) => `"${text}"`;
const quoted: ToText = (text) => JSON.stringify(text);
const boolean: ToText = (text) => (text === 't' ? 'true' : 'false');
const double: ToText = (text) => doubleText(Number(text));

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d+))?(?:\+00)?$/;

/** Others, such as `infinity` and years before Christ, stay as PostgreSQL writes them. */
const date: ToText = (text) => (DATE.test(text) ? `"${text}T00:00:00.000"` : quoted(text));
const time: ToText = (text) => {
  const [, day, clock, fraction = ''] = TIME.exec(text) ?? [];
  return day ? `"${day}T${clock}.${fraction.padEnd(3, '0').slice(0, 3)}"` : quoted(text);
};

/** By the number that PostgreSQL gives each of its own types. */
const KINDS: Record<number, [name: string, ColumnType, ToText]> = {
  16: ['boolean', 'boolean', boolean],
  17: ['bytea', 'other', quoted],
  18: ['char', 'string', quoted],
  19: ['name', 'string', quoted],
  20: ['bigint', 'number', plain],
  21: ['smallint', 'number', plain],
  23: ['integer', 'number', plain],
  25: ['text', 'string', quoted],
  26: ['oid', 'number', plain],
  114: ['json', 'other', quoted],
  700: ['real', 'number', double],
  701: ['double precision', 'number', double],
  1042: ['character', 'string', quoted],
  1043: ['character varying', 'string', quoted],
  1082: ['date', 'time', date],
  1114: ['timestamp', 'time', time],
  1184: ['timestamptz', 'time', time],
  1700: ['numeric', 'number', decimalText],
  2950: ['uuid', 'string', quoted],
  3802: ['jsonb', 'other', quoted],
};

export const columnTypeOf = (typeId: number): ColumnType => KINDS[typeId]?.[1] ?? 'other';
export const typeNameOf = (typeId: number) => KINDS[typeId]?.[0] ?? `type ${typeId}`;
export const toTextOf = (typeId: number): ToText => KINDS[typeId]?.[2] ?? quoted;
