/** What errors of ClickHouse and of the connection to it mean for callers. */
import { ClickHouseError } from '@clickhouse/client';
import { EngineError, type EngineErrorCode } from '../engine.ts';
import { unreachable } from '../process/unreachable.ts';

const MESSAGE_MAX = 1000;

/** By the number that ClickHouse gives the error. */
const CODES: [EngineErrorCode, number[]][] = [
  ['query_invalid', [36, 42, 43, 44, 46, 47, 48, 60, 62, 63, 179, 184, 215, 352, 403, 456]],
  ['query_refused', [164, 392, 452, 497]],
  ['value_invalid', [6, 27, 38, 41, 53, 69, 70, 72, 131, 153, 190, 321, 349, 386, 395, 407, 457]],
  ['timed_out', [159, 160]],
  ['query_too_large', [158, 161, 162, 167, 168, 173, 191, 241, 306, 307]],
  ['result_too_large', [396]],
  ['credential_refused', [192, 193, 194, 195, 516]],
  ['source_unavailable', [81, 115, 202, 209, 210, 236, 279, 394]],
];
const MEANINGS = new Map(CODES.flatMap(([meaning, codes]) => codes.map((code) => [String(code), meaning])));

export const notClickhouse = () =>
  new EngineError('source_unavailable', 'The server at this address does not answer as ClickHouse does.');

export function explain(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  if (!(error instanceof ClickHouseError)) {
    // Without a code, the message may be what any other server has answered.
    return (error as NodeJS.ErrnoException).code ? unreachable(error) : notClickhouse();
  }
  const { code, message } = error;
  if (/Cannot modify '\w+' setting/.test(message)) {
    return new EngineError(
      'source_unavailable',
      'The user of the data source cannot change settings, which queries need: set `readonly` of the user to 2 instead of 1.',
    );
  }
  const meaning = MEANINGS.get(code) ?? 'query_failed';
  if (meaning === 'timed_out') return new EngineError(meaning, 'The query took too long, and was ended.');
  // What follows repeats the statement with its values.
  const [words = message] = message.split(/:? In scope |: While (?:processing|executing) /);
  return new EngineError(meaning, words.trim().slice(0, MESSAGE_MAX));
}
