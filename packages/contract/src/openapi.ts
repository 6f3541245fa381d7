/** The OpenAPI 3.1 document, made from the operations. */
import { type TSchema, Type } from 'typebox';
import { errorCodesOf } from './error-codes.ts';
import { type ErrorCode, errorCatalogue } from './errors.ts';
import { createHoist } from './hoist.ts';
import {
  hasBody,
  type Operation,
  sendsEtag,
  successStatus,
  takesIfMatch,
  takesIfNoneMatch,
} from './operation.ts';
import { tags } from './operations.gen.ts';
import { ErrorReply } from './schemas.ts';

type Json = Record<string, unknown>;

const SECURITY = {
  public: [],
  management: [{ bearer: [] }, { apiKey: [] }],
  apiKey: [{ apiKey: [] }, { apiKeyAsBearer: [] }],
  embed: [{ embedToken: [] }],
} satisfies Record<Operation['auth'], object[]>;

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or an API key' },
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: '`Api-Key sk-…`, with the scheme word in front of the key',
  },
  apiKeyAsBearer: { type: 'http', scheme: 'bearer', description: 'An API key' },
  embedToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'What an embed session was exchanged for',
  },
};

const REQUEST_HEADERS = {
  'X-Request-Id':
    'Your own id of the request, of 8 to 64 letters, digits, `_`, `.` and `-`. The reply, the log and the audit log repeat it; anything else is passed over.',
  'If-Match':
    'The `ETag` that the resource had when it was read, or several. A change of a resource that has another one by now is a 412 and changes nothing.',
  'If-None-Match': '`*` creates and never changes: a 412 where the resource is there already.',
};
type RequestHeader = keyof typeof REQUEST_HEADERS;

const REPLY_HEADERS = {
  'X-Request-Id': { description: 'The id of the request, also in the log', schema: { type: 'string' } },
  ETag: {
    description: 'The version of the resource, for `If-Match`',
    schema: { type: 'string', examples: ['"iyEbVvnZb2nOKBqgZ-s4Jg"'] },
  },
  'WWW-Authenticate': { description: 'The schemes that are taken', schema: { type: 'string' } },
  'Retry-After': {
    description: 'After how many seconds another attempt makes sense',
    schema: { type: 'integer', minimum: 0 },
  },
};
type ReplyHeader = keyof typeof REPLY_HEADERS;

const STATUS_TEXT: Record<number, string> = {
  400: 'The request is wrong, in form or in what it refers to',
  401: 'No credential, or a bad one',
  403: 'The caller may not',
  404: 'No such thing, or none that the caller may know of',
  405: 'The path does not take this method',
  408: 'The request did not arrive in time',
  409: 'The state forbids it',
  412: 'The resource has changed since it was read',
  413: 'The body is too large',
  415: 'The body is not JSON',
  429: 'Too many requests',
  431: 'The headers are too large',
  500: 'Something went wrong on our side',
  503: 'The service can not answer right now',
  504: 'The answer took too long',
};

export function openApiDocument(operations: readonly Operation[]): Json {
  const hoist = createHoist();
  const sharedReplies: Record<string, Json> = {};

  const parameters = (op: Operation) =>
    (['params', 'query'] as const).flatMap((part) =>
      Object.entries(op[part]).map(([name, schema]) => {
        const { description, deprecated, ...rest } = hoist(schema);
        return {
          name,
          in: part === 'params' ? 'path' : 'query',
          required: !Type.IsOptional(schema),
          ...(description ? { description } : {}),
          ...(deprecated ? { deprecated } : {}),
          schema: rest,
        };
      }),
    );

  const content = (schema: TSchema) => ({ 'application/json': { schema: hoist(schema) } });

  const errorReplies = (op: Operation) => {
    const codes = errorCodesOf(op);
    const statuses = new Set(codes.map((code) => errorCatalogue[code].status));
    const having = (status: number) => codes.filter((code) => errorCatalogue[code].status === status);
    return Object.fromEntries([...statuses].map((status) => [status, errorReply(status, having(status))]));
  };

  /** A reply with a single code is the same wherever it occurs, and is written once. */
  const errorReply = (status: number, codes: ErrorCode[]) => {
    const [code, ...more] = codes as [ErrorCode, ...ErrorCode[]];
    if (more.length) return describeError(status, codes);
    sharedReplies[code] ??= describeError(status, codes);
    return { $ref: `#/components/responses/${code}` };
  };

  const describeError = (status: number, codes: ErrorCode[]) => ({
    description: `${STATUS_TEXT[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: replyHeaders(
      'X-Request-Id',
      ...(status === 401 ? ['WWW-Authenticate' as const] : []),
      ...(status === 429 || status === 503 ? ['Retry-After' as const] : []),
    ),
    content: {
      'application/json': {
        schema: { allOf: [hoist(ErrorReply), { type: 'object', properties: { code: { enum: codes } } }] },
      },
    },
  });

  const success = (op: Operation) => ({
    description: successStatus(op) === 204 ? 'Done' : 'Success',
    headers: replyHeaders('X-Request-Id', ...(sendsEtag(op) ? ['ETag' as const] : [])),
    ...(successStatus(op) === 204 ? {} : { content: content(op.reply) }),
  });

  const describe = (op: Operation) => ({
    operationId: op.id,
    tags: [op.tag],
    summary: op.summary,
    description: [op.description, needs(op)].filter(Boolean).join(' '),
    security: [...SECURITY[op.auth], ...(op.embed && op.auth === 'management' ? SECURITY.embed : [])],
    ...(op.permission === 'none' ? {} : { 'x-permission': op.permission }),
    parameters: [...parameters(op), ...requestHeadersOf(op).map(refToParameter)],
    ...(hasBody(op) ? { requestBody: { required: !op.optionalBody, content: content(op.body) } } : {}),
    responses: { [successStatus(op)]: success(op), ...errorReplies(op) },
  });

  const paths: Record<string, Json> = {};
  for (const op of operations) {
    paths[op.path] ??= { parameters: [refToParameter('X-Request-Id')] };
    paths[op.path]![op.method.toLowerCase()] = describe(op);
  }

  return {
    openapi: '3.1.0',
    info: {
      title: 'Oriel',
      version: '1.0.0',
      description: 'Manage an analytics platform and mint embed sessions.',
      contact: { name: 'The Oriel project' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this document came from' }],
    tags: Object.entries(tags)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .filter(([name]) => operations.some((op) => op.tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: Object.fromEntries(
        Object.entries(REQUEST_HEADERS).map(([name, description]) => [
          name,
          { name, in: 'header', required: false, description, schema: { type: 'string' } },
        ]),
      ),
      headers: REPLY_HEADERS,
      responses: sorted(sharedReplies),
      schemas: sorted(hoist.components),
    },
  };
}

/** Who may call an operation, in words. */
function needs(op: Operation): string {
  if (op.auth === 'public') return 'Needs no credential.';
  if (op.auth === 'embed') return 'Needs an embed token.';
  if (op.permission === 'none')
    return op.auth === 'apiKey' ? 'Needs an API key.' : 'Needs a valid credential.';
  if (op.permissionOn === 'resource')
    return `Needs \`${op.permission}\` on the resource, by role, by policy or as its owner.`;
  return `Needs the action \`${op.permission}\`.`;
}

const requestHeadersOf = (op: Operation): RequestHeader[] => [
  ...(takesIfMatch(op) ? ['If-Match' as const] : []),
  ...(takesIfNoneMatch(op) ? ['If-None-Match' as const] : []),
];

const refToParameter = (name: RequestHeader) => ({ $ref: `#/components/parameters/${name}` });

const replyHeaders = (...names: ReplyHeader[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const sorted = (record: Record<string, Json>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
