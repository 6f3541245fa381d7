/** Writes the answers to queries, around rows that are JSON text already. */
import type { NormalQuery } from '@oriel/semantic';
import type { ColumnType } from '../../engines/engine.ts';
import type { AnswerType, PlannedQuery } from './plans.ts';
import type { Result } from './results.ts';

export interface Answered {
  planned: PlannedQuery;
  result: Result;
  total: number | undefined;
}

export type Piece = Buffer | string;

/** A larger answer is not copied for each reader: its kept rows are shared by all. */
const JOINED_BYTES_MAX = 64 * 1024;

/** One buffer if the answer is small and all rows are there, or else pieces. */
export function answerText(type: AnswerType, answered: readonly Answered[], isMulti: boolean) {
  const pieces = isMulti ? multi(type, answered) : one(answered[0]!);
  return written(
    pieces,
    answered.map(({ result }) => result),
  );
}

function written(pieces: Pieces, results: readonly Result[]) {
  const bytes = results.reduce(
    (sum, { rows }) => sum + (Buffer.isBuffer(rows) ? rows.length : Number.POSITIVE_INFINITY),
    0,
  );
  return bytes <= JOINED_BYTES_MAX ? joined(pieces) : encoded(pieces);
}

/** For SQL: a line with the columns, one with all rows, and one that says whether there are more. */
export const sqlAnswerText = (columns: readonly string[], result: Result) =>
  written(sqlLines(columns, result), [result]);

const COLUMN_TYPES: Record<ColumnType, string> = {
  number: 'Number',
  time: 'Timestamp',
  boolean: 'Boolean',
  string: 'String',
  other: 'String',
};

function* sqlLines(names: readonly string[], { columns, rows, isCapped, at }: Result): Pieces {
  const schema = names.map((name, i) => ({ name, column_type: COLUMN_TYPES[columns[i]!.type] }));
  yield `${JSON.stringify({ schema, lastRefreshTime: at })}\n{"data":`;
  yield rows;
  const end = (capped: boolean) => `}\n{"rowsCapped":${capped}}\n`;
  yield typeof isCapped === 'boolean' ? end(isCapped) : async () => end(await isCapped);
}

type Pieces = Generator<Piece | AsyncIterable<Buffer> | (() => Promise<string>)>;

function* multi(type: AnswerType, answered: readonly Answered[]): Pieces {
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

function* one({ planned, result, total }: Answered): Pieces {
  const { head, members } = planned;
  yield `${head},"lastRefreshTime":"${result.at.toISOString()}","data":`;
  if (members) yield `{"members":${JSON.stringify(members)},"dataset":`;
  yield result.rows;
  if (members) yield '}';
  const end = (isCapped: boolean) =>
    `,"rowsCapped":${isCapped}${total === undefined ? '' : `,"total":${total}`}}`;
  const { isCapped } = result;
  yield typeof isCapped === 'boolean' ? end(isCapped) : async () => end(await isCapped);
}

function joined(pieces: Pieces): Buffer {
  return Buffer.concat(
    [...pieces].map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : (piece as Buffer))),
  );
}

async function* encoded(pieces: Pieces): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (typeof piece === 'string') yield Buffer.from(piece);
    else if (typeof piece === 'function') yield Buffer.from(await piece());
    else if (Buffer.isBuffer(piece)) yield piece;
    else yield* piece;
  }
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
