/** What the errors of plans and engines mean for callers. */
import type { ErrorCode } from '@oriel/contract';
import { QueryError } from '@oriel/semantic';
import { EngineError, type EngineErrorCode } from '../../engines/engine.ts';
import { ApiError } from '../../platform/errors.ts';

/** Their messages may have words of the data source, such as names of tables. */
const FROM_SOURCE: ReadonlySet<EngineErrorCode> = new Set([
  'query_invalid',
  'query_refused',
  'value_invalid',
  'source_unavailable',
  'credential_refused',
  'query_failed',
]);

/** Messages for SQL that the caller has written, and not the data model. */
const OF_SQL: Partial<Record<EngineErrorCode, string>> = {
  query_invalid:
    'The data source does not accept this SQL. Check the types of its values and the columns of GROUP BY.',
  query_refused: 'The SQL does what no query may do.',
  value_invalid: 'A value does not have the type that the SQL needs.',
};

/** `showsSource` for callers who may read the data model. */
export function toApiError(
  error: unknown,
  { showsSource, isSql }: { showsSource: boolean; isSql: boolean },
): unknown {
  if (error instanceof QueryError) {
    const { code, message, issues } = error;
    return new ApiError(code, { message, issues: [...issues], cause: error });
  }
  if (!(error instanceof EngineError)) return error;
  // A person whose own credential is refused has got another error before. For all others the source cannot be used.
  const code: ErrorCode = error.code === 'credential_refused' ? 'source_unavailable' : error.code;
  const own = isSql ? OF_SQL[error.code] : undefined;
  const message = FROM_SOURCE.has(error.code) && !showsSource ? own : error.message;
  return new ApiError(code, { message, cause: error });
}
