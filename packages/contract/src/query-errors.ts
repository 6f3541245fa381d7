/** What can go wrong with a query, for the operations that plan or run one. */

export const PLAN_ERRORS = [
  'invalid_query',
  'unknown_member',
  'ambiguous_join',
  'no_join_path',
  'unsupported_query',
  'model_not_built',
  'source_not_configured',
  'too_many_queries',
] as const;

/** The errors of a source that people query with their own access. */
export const PERSONAL_ERRORS = [
  'oauth_connection_required',
  'oauth_person_required',
  'oauth_provider_unavailable',
] as const;

export const RUN_ERRORS = [
  ...PERSONAL_ERRORS,
  'query_invalid',
  'query_refused',
  'value_invalid',
  'query_too_large',
  'result_too_large',
  'source_unavailable',
  'source_busy',
  'answers_not_read',
  'query_failed',
  'query_timed_out',
  'query_cancelled',
] as const;

/** The errors of a query that comes as text. */
export const TEXT_ERRORS = [
  'malformed_json',
  'number_too_precise',
  'json_too_many_values',
  'json_too_deep',
  'integer_too_large',
  'duplicate_key',
] as const;

/** The time limit of a query. It may wait behind others, and the model may have to be compiled first. */
export const LOAD_TIMEOUT_MS = 150_000;
