/** The error codes that an operation may return. */
import { type ErrorCode, errorCatalogue } from './errors.ts';
import {
  bodyKindOf,
  hasBody,
  isCursorList,
  isDeploymentOperation,
  isPageForm,
  type Operation,
  takesApiKey,
  takesIfMatch,
} from './operation.ts';

const BODY_ERRORS = ['request_timeout', 'body_too_large', 'unsupported_media_type'] satisfies ErrorCode[];

const JSON_ERRORS = [
  'malformed_json',
  'number_too_precise',
  'json_too_many_values',
  'json_too_deep',
  'integer_too_large',
  'duplicate_key',
] satisfies ErrorCode[];

/** The codes that an operation may return: its own codes, and the codes that its properties imply. */
export function errorCodesOf(op: Operation): ErrorCode[] {
  const codes = new Set<ErrorCode>(op.errors);
  const add = (when: boolean, ...more: ErrorCode[]) => {
    if (when) for (const code of more) codes.add(code);
  };
  const hasParams = Object.keys(op.params).length > 0;
  const hasQuery = Object.keys(op.query).length > 0 || Object.keys(op.headers).length > 0;
  // For every operation, a request that is not valid HTTP is a 400.
  add(true, 'invalid_request');
  add(hasParams || hasQuery || hasBody(op), 'invalid_text');
  add(hasParams, 'invalid_url');
  const body = bodyKindOf(op)?.kind;
  add(body !== undefined, ...BODY_ERRORS);
  add(body === 'json' || body === 'formOrJson', ...JSON_ERRORS);
  add(body === 'multipart', 'malformed_multipart');
  add(isCursorList(op), 'invalid_cursor');
  add(op.auth !== 'public', 'unauthenticated');
  // Too many wrong keys from one address, or too many calls.
  add(op.auth !== 'public' || op.rate !== undefined, 'rate_limited');
  // Callers with an embed token are known, but they may use very few operations.
  add(op.permission !== 'none' || op.auth === 'management' || op.auth === 'query', 'forbidden');
  // An API key in a page of another origin.
  add(op.crossOrigin === true, 'forbidden');
  // A form that does not come from one of our pages.
  add(op.auth === 'console' || isPageForm(op), 'forbidden');
  add(takesApiKey(op) && isDeploymentOperation(op), 'outside_key_scope');
  add(op.scopedKeys === 'refused', 'outside_key_scope');
  add(isDeploymentOperation(op), 'deployment_not_found');
  add(takesIfMatch(op), 'precondition_failed');
  add(op.embed === 'creator', 'creator_mode_only');
  add(true, 'invalid_url', 'headers_too_large', 'internal_error', 'unavailable');
  // Temporary errors: the caller or the server has too much under way, or the work took too long.
  add(true, 'too_many_at_once', 'busy', 'timed_out');
  return [...codes].sort((a, b) => errorCatalogue[a].status - errorCatalogue[b].status || (a < b ? -1 : 1));
}
