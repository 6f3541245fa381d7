/** What DuckDB's errors mean for callers. DuckDB writes the kind of an error at the beginning of its message. */
import { EngineError, type EngineErrorCode } from '../engine.ts';

const MESSAGE_MAX = 1000;

/** The statement itself says so, see `boundedText` of the dialect. */
const TEXT_TOO_LONG = /^Invalid Input Error: (string_agg makes a text of .*)/;

const NO_MESSAGE = 'The engine failed, and did not say why. Try again, or ask for less at once.';

const CODES: [RegExp, EngineErrorCode][] = [
  [
    /^(Failed to extract statements: )?(Parser|Binder|Catalog|Syntax|Not implemented|Parameter .*)\b/i,
    'query_invalid',
  ],
  [/^(Failed to extract statements: )?Permission Error/, 'query_refused'],
  [/^Invalid Configuration Error/, 'query_refused'],
  [/^(Conversion|Out of Range|Mismatch Type|Invalid type) Error/i, 'value_invalid'],
  [TEXT_TOO_LONG, 'result_too_large'],
  [/^Invalid Input Error/, 'query_invalid'],
  [/^Out of Memory Error/, 'query_too_large'],
  [/bad allocation|bad_alloc|Cannot create a string longer/i, 'query_too_large'],
  [/^IO Error/, 'source_unavailable'],
];

export function explain(error: unknown, failures: ReadonlyMap<string, string>): EngineError {
  if (error instanceof EngineError) return error;
  const { message } = error as Error;
  const code = CODES.find(([pattern]) => pattern.test(message))?.[1] ?? 'query_failed';
  if (code === 'query_too_large') {
    return new EngineError(code, 'The query needs more memory than it may have: ask for less at once.');
  }
  const tooLong = TEXT_TOO_LONG.exec(message)?.[1];
  if (tooLong) return new EngineError(code, `${tooLong}: aggregate fewer or shorter texts.`);
  const hint = code === 'query_invalid' ? hintOf(message, failures) : '';
  return new EngineError(code, (message.trim() || NO_MESSAGE).slice(0, MESSAGE_MAX) + hint);
}

/** The table is missing because its file cannot be read. */
const hintOf = (message: string, failures: ReadonlyMap<string, string>) =>
  [...failures]
    .filter(([table]) => message.toLowerCase().includes(table))
    .map(([table, why]) => `\nThe file of the table files.${table} cannot be read: ${why}`)
    .join('');
