/** The headers of requests and replies that many operations have. The OpenAPI document defines each of them once. */
import { type Operation, takesIfMatch, takesIfNoneMatch } from './operation.ts';

const REQUEST_HEADERS = {
  'X-Request-Id':
    'Your own id for the request: 8 to 64 letters, digits, `_`, `.` and `-`. The reply, the log and the audit log repeat it. A value of another form is ignored.',
  'If-Match':
    'The `ETag` that the resource had when you read it, or several. If the resource has another one by now, the reply is a 412 and nothing changes.',
  'If-None-Match':
    'To read: the `ETag` that the resource had; if it still has it, the reply is a 304. To change: `*` only creates; if the resource exists already, the reply is a 412.',
};
type RequestHeader = keyof typeof REQUEST_HEADERS;

export const HEADER_PARAMETERS = Object.fromEntries(
  Object.entries(REQUEST_HEADERS).map(([name, description]) => [
    name,
    { name, in: 'header', required: false, description, schema: { type: 'string' } },
  ]),
);

export const REPLY_HEADERS = {
  'X-Request-Id': { description: 'The id of the request, also in the log', schema: { type: 'string' } },
  ETag: {
    description: 'The version of the resource, for `If-Match`',
    schema: { type: 'string', examples: ['"iyEbVvnZb2nOKBqgZ-s4Jg"'] },
  },
  'WWW-Authenticate': {
    description: 'The authentication schemes that the operation accepts',
    schema: { type: 'string' },
  },
  Location: { description: 'The address to go to', schema: { type: 'string' } },
  'X-Error-Code': {
    description: 'The stable code of the error, if the body has no field for it',
    schema: { type: 'string' },
  },
  'Retry-After': {
    description: 'Wait this many seconds before the next attempt',
    schema: { type: 'integer', minimum: 0 },
  },
};
type ReplyHeader = keyof typeof REPLY_HEADERS;

export const requestHeadersOf = (op: Operation): RequestHeader[] => [
  ...(takesIfMatch(op) ? ['If-Match' as const] : []),
  ...(takesIfNoneMatch(op) ? ['If-None-Match' as const] : []),
];

export const refToParameter = (name: RequestHeader) => ({ $ref: `#/components/parameters/${name}` });

export const replyHeaders = (...names: ReplyHeader[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
