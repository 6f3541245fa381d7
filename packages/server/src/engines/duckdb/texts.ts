/** How values of DuckDB become JSON texts. */
import {
  type DuckDBDataChunk,
  type DuckDBDateValue,
  type DuckDBDecimalValue,
  type DuckDBTimestampMillisecondsValue,
  type DuckDBTimestampNanosecondsValue,
  type DuckDBTimestampSecondsValue,
  type DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
  type DuckDBVector,
} from '@duckdb/node-api';
import type { ColumnType } from '../engine.ts';
import { decimalText, doubleText, floatText, isTime, timeText } from '../process/values.ts';
import { bytesOf } from './value-bytes.ts';

const MS_PER_DAY = 86_400_000;

type ToText = (value: never) => string;

const plain: ToText = (value: unknown) => `"${value}"`;
const quoted: ToText = (value: unknown) => JSON.stringify(String(value));
const json: ToText = (value: unknown) => JSON.stringify(value);
const float: ToText = (value: number) => floatText(value);
const double: ToText = (value: number) => doubleText(value);
const decimal: ToText = (value: DuckDBDecimalValue) => decimalText(value.toString());
const blob: ToText = (value: { bytes: Uint8Array }) => `"\\\\x${Buffer.from(value.bytes).toString('hex')}"`;

/** Rounds down, also before 1970. */
const floorDiv = (value: bigint, by: bigint) => Number(value / by) - (value % by < 0n ? 1 : 0);

const time =
  <Value extends { isFinite?: boolean }>(toMs: (value: Value) => number): ToText =>
  (value: Value) => {
    const ms = toMs(value);
    return value.isFinite !== false && isTime(ms) ? timeText(ms) : JSON.stringify(String(value));
  };

const T = DuckDBTypeId;
const KINDS: { [id in DuckDBTypeId]?: [ColumnType, ToText] } = {
  [T.BOOLEAN]: ['boolean', json],
  [T.TINYINT]: ['number', plain],
  [T.SMALLINT]: ['number', plain],
  [T.INTEGER]: ['number', plain],
  [T.BIGINT]: ['number', plain],
  [T.UTINYINT]: ['number', plain],
  [T.USMALLINT]: ['number', plain],
  [T.UINTEGER]: ['number', plain],
  [T.UBIGINT]: ['number', plain],
  [T.HUGEINT]: ['number', plain],
  [T.UHUGEINT]: ['number', plain],
  [T.BIGNUM]: ['number', plain],
  [T.FLOAT]: ['number', float],
  [T.DOUBLE]: ['number', double],
  [T.DECIMAL]: ['number', decimal],
  [T.VARCHAR]: ['string', json],
  [T.ENUM]: ['string', json],
  [T.UUID]: ['string', quoted],
  [T.BLOB]: ['other', blob],
  [T.DATE]: ['time', time((value: DuckDBDateValue) => value.days * MS_PER_DAY)],
  [T.TIMESTAMP]: ['time', time((value: DuckDBTimestampValue) => floorDiv(value.micros, 1000n))],
  [T.TIMESTAMP_TZ]: ['time', time((value: DuckDBTimestampValue) => floorDiv(value.micros, 1000n))],
  [T.TIMESTAMP_S]: ['time', time((value: DuckDBTimestampSecondsValue) => Number(value.seconds) * 1000)],
  [T.TIMESTAMP_MS]: ['time', time((value: DuckDBTimestampMillisecondsValue) => Number(value.millis))],
  [T.TIMESTAMP_NS]: [
    'time',
    time((value: DuckDBTimestampNanosecondsValue) => floorDiv(value.nanos, 1_000_000n)),
  ],
};

export const columnTypeOf = (type: DuckDBType): ColumnType => KINDS[type.typeId]?.[0] ?? 'other';

export interface ColumnTexts {
  /** About how many bytes the value has, without making a JavaScript value of it. */
  bytesAt(row: number): number;
  /** The JSON text of the value. */
  textAt(row: number): string;
}

export function textsOf(chunk: DuckDBDataChunk, column: number, type: DuckDBType): ColumnTexts {
  const vector = chunk.getColumnVector(column) as DuckDBVector<DuckDBValue> & { itemCache?: unknown[] };
  const toText = KINDS[type.typeId]?.[1] ?? quoted;
  return {
    bytesAt: bytesOf(vector),
    textAt(row) {
      const value = vector.getItem(row);
      // The driver would keep the texts of all rows of the chunk.
      if (vector.itemCache) vector.itemCache[row] = undefined;
      return value === null ? 'null' : toText(value as never);
    },
  };
}
