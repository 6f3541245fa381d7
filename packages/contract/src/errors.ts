/** Every error that the server can answer with. A code is stable and belongs to one status. */
export const errorCatalogue = {
  invalid_request: { status: 400, message: 'The request does not match the operation.' },
  invalid_url: { status: 400, message: 'The address of the request is malformed.' },
  malformed_json: { status: 400, message: 'The body is not valid JSON.' },
  json_too_deep: { status: 400, message: 'The body is nested too deeply.' },
  invalid_text: { status: 400, message: 'The request holds text that is not valid Unicode.' },
  invalid_cursor: { status: 400, message: 'The cursor in `after` is not one of this list and sort.' },
  mixed_pagination: { status: 400, message: 'Use either `first`/`after` or `offset`/`limit`, not both.' },
  region_not_found: { status: 400, message: 'There is no such region.' },
  invalid_reference: { status: 400, message: 'The request refers to something that does not exist.' },
  unauthenticated: { status: 401, message: 'A valid credential is required.' },
  forbidden: { status: 403, message: 'You may not do this.' },
  outside_key_scope: { status: 403, message: 'The API key is not scoped to this.' },
  route_not_found: { status: 404, message: 'There is no such operation.' },
  deployment_not_found: { status: 404, message: 'There is no such deployment.' },
  api_key_not_found: { status: 404, message: 'There is no such API key.' },
  request_timeout: { status: 408, message: 'The request did not arrive in time.' },
  username_taken: { status: 409, message: 'Another user has this username.' },
  email_taken: { status: 409, message: 'Another user has this email.' },
  body_too_large: { status: 413, message: 'The body is larger than 10 MB.' },
  unsupported_media_type: { status: 415, message: 'The body must be `application/json`.' },
  headers_too_large: { status: 431, message: 'The headers of the request are too large.' },
  internal_error: { status: 500, message: 'Something went wrong on our side.' },
  unavailable: { status: 503, message: 'The service can not answer right now.' },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof errorCatalogue;
