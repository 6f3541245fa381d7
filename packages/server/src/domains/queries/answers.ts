/** Writes the answers to queries, around rows that are JSON text already. */
import type { NormalQuery } from '@oriel/semantic';
import type { ColumnType } from '../../engines/engine.ts';
import type { ByteReservation } from '../../platform/byte-budget.ts';
import type { WholeBytes } from '../../platform/http/streams.ts';
import type { StoredText } from './buffered-text.ts';
import type { AnswerType, PlannedQuery } from './plans.ts';
import { isKept, type Result, release } from './results.ts';

export interface AnsweredQuery {
  planned: PlannedQuery;
  result: Result;
  total: number | undefined;
}

/** Kept rows are not copied for each reader above this size: all readers share them. */
const JOINED_BYTES_MAX = 64 * 1024;
const PIECE_BYTES = 256 * 1024;

/** Counts the bytes of an answer until its caller has read it. */
export type CountUnread = (bytes: number) => Pick<ByteReservation, 'giveBack'>;

/** One buffer if the answer is small, or else pieces. */
export function answerText(
  type: AnswerType,
  answered: readonly AnsweredQuery[],
  isMulti: boolean,
  countUnread: CountUnread,
) {
  const pieces = isMulti ? multi(type, answered) : one(answered[0]!);
  return written(
    pieces,
    answered.map(({ result }) => result),
    countUnread,
  );
}

function written(parts: Parts, results: readonly Result[], countUnread: CountUnread): Buffer | WholeBytes {
  const pieces = [...parts].map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
  const byteLength = pieces.reduce((sum, piece) => sum + piece.byteLength, 0);
  if (results.every(isKept) && byteLength <= JOINED_BYTES_MAX) return Buffer.concat(pieces as Buffer[]);
  const releaseAll = () => results.forEach(release);
  try {
    const share = countUnread(byteLength);
    const releaseSent = () => {
      share.giveBack();
      releaseAll();
    };
    return { byteLength, release: releaseSent, [Symbol.asyncIterator]: () => inPieces(pieces) };
  } catch (error) {
    releaseAll();
    throw error;
  }
}

async function* inPieces(pieces: readonly (Buffer | StoredText)[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (!Buffer.isBuffer(piece)) yield* piece.pieces();
    else {
      for (let at = 0; at < piece.length; at += PIECE_BYTES) yield piece.subarray(at, at + PIECE_BYTES);
    }
  }
}

/** For SQL: a line with the columns, one with all rows, and one that says whether there are more. */
export const sqlAnswerText = (columns: readonly string[], result: Result, countUnread: CountUnread) =>
  written(sqlLines(columns, result), [result], countUnread);

const COLUMN_TYPES: Record<ColumnType, string> = {
  number: 'Number',
  time: 'Timestamp',
  boolean: 'Boolean',
  string: 'String',
  other: 'String',
};

function* sqlLines(names: readonly string[], { columns, rows, isCapped, at }: Result): Parts {
  const schema = names.map((name, i) => ({ name, column_type: COLUMN_TYPES[columns[i]!.type] }));
  yield `${JSON.stringify({ schema, lastRefreshTime: at })}\n{"data":`;
  yield rows;
  yield `}\n{"rowsCapped":${isCapped}}\n`;
}

type Parts = Generator<string | Buffer | StoredText>;

function* multi(type: AnswerType, answered: readonly AnsweredQuery[]): Parts {
  const pivotQuery = pivotQueryOf(
    type,
    answered.map(({ planned }) => planned.query),
  );
  yield `{"queryType":"${type}","pivotQuery":${JSON.stringify(pivotQuery)},"slowQuery":false,"results":[`;
  for (const [i, item] of answered.entries()) {
    if (i > 0) yield ',';
    yield* one(item);
  }
  yield ']}';
}

function* one({ planned, result, total }: AnsweredQuery): Parts {
  const { head, members } = planned;
  yield `${head},"lastRefreshTime":"${result.at.toISOString()}","data":`;
  if (members) yield `{"members":${JSON.stringify(members)},"dataset":`;
  yield result.rows;
  if (members) yield '}';
  yield `,"rowsCapped":${result.isCapped}${total === undefined ? '' : `,"total":${total}`}}`;
}

/** By this query, clients put the results of several queries into one table. */
export function pivotQueryOf(type: AnswerType, queries: readonly NormalQuery[]): object {
  const [first] = queries as [NormalQuery, ...NormalQuery[]];
  if (type === 'compareDateRangeQuery') {
    return { ...first, dimensions: ['compareDateRange', ...first.dimensions], queryType: type };
  }
  if (type === 'regularQuery') return { ...first, queryType: type };
  const all = (key: 'measures' | 'dimensions') => [...new Set(queries.flatMap((query) => query[key]))];
  const granularity = queries.map(granularityOf).find((found) => found !== undefined);
  return {
    measures: all('measures'),
    dimensions: all('dimensions'),
    timeDimensions: [{ dimension: 'time', ...(granularity === undefined ? {} : { granularity }) }],
    queryType: type,
  };
}

export const granularityOf = ({ timeDimensions }: NormalQuery) =>
  timeDimensions.find(({ granularity }) => granularity !== undefined)?.granularity;
