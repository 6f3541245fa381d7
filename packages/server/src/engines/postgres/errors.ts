/** What errors of PostgreSQL and of the connection to it mean for callers. */
import pg from 'pg';
import { EngineError, type EngineErrorCode } from '../engine.ts';
import { unreachable } from '../process/unreachable.ts';

const MESSAGE_MAX = 1000;

/** By the beginning of the code that PostgreSQL gives the error. The first that fits counts. */
const CODES: [string, EngineErrorCode][] = [
  ['42501', 'query_refused'],
  ['25006', 'query_refused'],
  ['25001', 'query_refused'],
  ['42', 'query_invalid'],
  ['26', 'query_invalid'],
  ['0A', 'query_invalid'],
  ['08P01', 'query_invalid'],
  ['22', 'value_invalid'],
  ['57014', 'timed_out'],
  ['53200', 'query_too_large'],
  ['54', 'query_too_large'],
  ['08', 'source_unavailable'],
  ['28', 'credential_refused'],
  ['3D', 'source_unavailable'],
  ['53', 'source_unavailable'],
  ['57', 'source_unavailable'],
];

/** The statement itself says so, see `boundedText` of the dialect. */
const TEXT_TOO_LONG = /"(string_agg makes a text of more than [\d,]+ bytes)"$/;

export function explain(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (!(error instanceof pg.DatabaseError)) return unreachable(error);
  const { message, code = '' } = error;
  const tooLong = TEXT_TOO_LONG.exec(message)?.[1];
  if (tooLong) return new EngineError('result_too_large', `${tooLong}: aggregate fewer or shorter texts.`);
  const meaning = CODES.find(([beginning]) => code.startsWith(beginning))?.[1] ?? 'query_failed';
  if (meaning === 'timed_out') return new EngineError(meaning, 'The query took too long, and was ended.');
  return new EngineError(meaning, message.slice(0, MESSAGE_MAX));
}
