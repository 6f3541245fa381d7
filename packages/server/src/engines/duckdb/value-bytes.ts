/**
 * Tells how large values of DuckDB are before they become JavaScript values. The memory for JavaScript is much smaller
 * than that of DuckDB, and Node ends the whole process if it is used up.
 */
import { type DuckDBType, DuckDBTypeId, type DuckDBVector } from '@duckdb/node-api';

/** DuckDB keeps each text in 16 bytes that begin with its length. */
const TEXT_ENTRY_BYTES = 16;
/** About how many bytes the JavaScript value of each item of a list needs. */
const ITEM_BYTES = 32;

/** By how much the text of a value is longer than what DuckDB keeps. */
const TEXT_FACTORS: { [id in DuckDBTypeId]?: number } = {
  [DuckDBTypeId.VARCHAR]: 1,
  [DuckDBTypeId.BLOB]: 2,
  [DuckDBTypeId.GEOMETRY]: 2,
  [DuckDBTypeId.BIGNUM]: 3,
  [DuckDBTypeId.BIT]: 8,
};

/** The parts of the driver's classes that are used here. Each class has some of them. */
interface Parts {
  type: DuckDBType;
  dataView?: DataView;
  validity?: { itemValid(row: number): boolean };
  /** Of lists: where the items of each row begin, and how many there are. */
  entryData?: BigUint64Array;
  /** Of arrays, which all have the same length. */
  arrayType?: { length: number };
  /** Of lists and arrays. */
  childData?: DuckDBVector;
  /** Of structs. */
  entryVectors?: DuckDBVector[];
  /** Of maps. */
  listVector?: DuckDBVector;
  /** Of unions. */
  structVector?: DuckDBVector;
  /** Of variants. */
  structVec?: DuckDBVector;
}

type BytesAt = (row: number) => number;

export function bytesOf(vector: DuckDBVector): BytesAt {
  const parts = vector as unknown as Parts;
  const inner = parts.listVector ?? parts.structVector ?? parts.structVec;
  if (inner) return bytesOf(inner);
  const { validity } = parts;
  const bytesAt = bytesOfParts(parts);
  return (row) => (validity?.itemValid(row) === false ? 0 : bytesAt(row));
}

function bytesOfParts({ type, dataView, entryData, arrayType, childData, entryVectors }: Parts): BytesAt {
  if (entryVectors) {
    const all = entryVectors.map(bytesOf);
    return (row) => all.reduce((sum, bytesAt) => sum + ITEM_BYTES + bytesAt(row), 0);
  }
  if (childData && entryData) {
    const itemsAt = bytesOfItems(childData);
    return (row) => itemsAt(Number(entryData[2 * row]), Number(entryData[2 * row + 1]));
  }
  if (childData && arrayType) {
    const itemsAt = bytesOfItems(childData);
    return (row) => itemsAt(row * arrayType.length, arrayType.length);
  }
  const factor = TEXT_FACTORS[type.typeId];
  if (factor && dataView) return (row) => factor * dataView.getUint32(row * TEXT_ENTRY_BYTES, true);
  return () => ITEM_BYTES;
}

function bytesOfItems(items: DuckDBVector) {
  const bytesAt = bytesOf(items);
  return (from: number, count: number) => {
    let bytes = count * ITEM_BYTES;
    for (let i = from; i < from + count; i++) bytes += bytesAt(i);
    return bytes;
  };
}
