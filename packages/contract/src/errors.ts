/** Every error that the server can return. A code never changes its meaning and has exactly one status. */
import { errors as ownErrors } from './operations.gen.ts';

export interface ErrorDefinition {
  status: number;
  /** The message for people, used if the error is thrown without a message of its own. */
  message: string;
  /** When to try again, in the header `Retry-After`, unless the error says it. */
  retryAfterSeconds?: number;
  /** The code that is sent instead. This one is not sent any more, and stays for programs that know it. */
  deprecated?: string;
  /** The name in RFC 6749 or RFC 8628, for operations with that form of errors. By default the status decides. */
  oauthError?: string;
  /** The name in RFC 7644, for operations with that form of errors. */
  scimType?: string;
}

/** Each file of operations defines the error codes of its noun with this. */
export type ErrorDefinitions = Record<string, ErrorDefinition>;

/** Codes that any operation may return. */
export const commonErrors = {
  invalid_request: {
    status: 400,
    message: 'The request does not match the operation.',
    scimType: 'invalidValue',
  },
  invalid_url: { status: 400, message: 'The address of the request is malformed.' },
  malformed_json: { status: 400, message: 'The body is not valid JSON.', scimType: 'invalidSyntax' },
  malformed_multipart: { status: 400, message: 'The body is not valid multipart/form-data.' },
  json_too_deep: { status: 400, message: 'The body is nested too deeply.', scimType: 'invalidSyntax' },
  integer_too_large: {
    status: 400,
    message: 'The body holds a number beyond ±9007199254740991: send it as text.',
    scimType: 'invalidSyntax',
  },
  json_too_many_values: {
    status: 400,
    message: 'The body holds more than 200,000 values.',
    scimType: 'invalidSyntax',
  },
  number_too_precise: {
    status: 400,
    message: 'The body holds a number with more digits than can be kept.',
    scimType: 'invalidSyntax',
  },
  duplicate_key: {
    status: 400,
    message: 'An object in the body has a key twice.',
    scimType: 'invalidSyntax',
  },
  invalid_text: {
    status: 400,
    message: 'The request holds text that is not valid Unicode.',
    scimType: 'invalidValue',
  },
  invalid_cursor: {
    status: 400,
    message: 'The cursor in `after` does not belong to this list and sort order.',
  },
  mixed_pagination: {
    status: 400,
    message: 'Page either by cursor (`first`, `after`) or in the older way, not both.',
  },
  invalid_reference: {
    status: 400,
    message: 'The request refers to something that does not exist.',
    scimType: 'invalidValue',
  },
  unauthenticated: { status: 401, message: 'A valid credential is required.' },
  forbidden: { status: 403, message: 'You may not do this.' },
  creator_mode_only: { status: 403, message: 'Only sessions in creator mode may do this.' },
  outside_key_scope: { status: 403, message: 'The scope of the API key does not include this.' },
  route_not_found: { status: 404, message: 'There is no such operation.' },
  deployment_not_found: { status: 404, message: 'There is no such deployment.' },
  method_not_allowed: { status: 405, message: 'This address does not take this method.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time.' },
  precondition_failed: { status: 412, message: 'The resource has changed since it was read.' },
  body_too_large: { status: 413, message: 'The body is larger than this operation allows.' },
  unsupported_media_type: {
    status: 415,
    message: 'The body must be JSON, sent with the header `Content-Type: application/json`.',
  },
  rate_limited: { status: 429, message: 'Too many failed attempts: wait, and try again.' },
  too_many_at_once: {
    status: 429,
    message: 'You have too much under way: wait until some of it has ended, and try again.',
    retryAfterSeconds: 1,
  },
  headers_too_large: { status: 431, message: 'The headers of the request are too large.' },
  internal_error: { status: 500, message: 'Something went wrong on our side.' },
  busy: {
    status: 503,
    message: 'The server has too much to do, or somebody else is changing this: try again.',
    retryAfterSeconds: 1,
  },
  unavailable: { status: 503, message: 'The service cannot answer right now.' },
  timed_out: {
    status: 504,
    message: 'This took too long and was stopped. Nothing was changed.',
    retryAfterSeconds: 1,
  },
} as const satisfies ErrorDefinitions;

export const errorCatalogue = { ...commonErrors, ...ownErrors };

export type ErrorCode = keyof typeof errorCatalogue;
