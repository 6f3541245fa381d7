/** The OpenAPI 3.1 document, made from the operations. */
import { type TProperties, Type } from 'typebox';
import { errorCodesOf } from './error-codes.ts';
import { type ErrorShape, errorShapes } from './error-shapes.ts';
import { type ErrorCode, errorCatalogue } from './errors.ts';
import { createHoist } from './hoist.ts';
import type { BodyKind, ReplyKind } from './kinds.ts';
import { asForm, bodyExampleOf, codesToShow, errorExample, parameterExampleOf } from './openapi-examples.ts';
import { binary, content, multipart, TEXT } from './openapi-media.ts';
import {
  describeBody,
  describeOperation,
  INTRODUCTION,
  inReadingOrder,
  STATUS_TEXT,
  SUCCESS_TEXT,
} from './openapi-words.ts';
import {
  answersNotModified,
  bodyKindOf,
  bodyTypesOf,
  mayAnswerNothing,
  mayRedirect,
  neverSucceeds,
  type Operation,
  replyKindOf,
  replyTypesOf,
  sendsEtag,
  successStatus,
  takesIfMatch,
  takesIfNoneMatch,
} from './operation.ts';
import { tags } from './operations.gen.ts';
import { ErrorReply } from './schemas.ts';
import { describeParameter } from './words/index.ts';

type Json = Record<string, unknown>;

const SECURITY = {
  public: [],
  management: [{ bearer: [] }, { apiKey: [] }],
  apiKey: [{ apiKey: [] }, { apiKeyAsBearer: [] }],
  embed: [{ embedToken: [] }],
  console: [{ consoleSession: [] }],
  query: [{ bearer: [] }, { apiKey: [] }, { environmentToken: [] }],
} satisfies Record<Operation['auth'], object[]>;

/** Our own pages call the API with their cookie. */
const cookieFor = (op: Operation) => {
  if (op.auth !== 'management') return [];
  return [op.method === 'GET' ? { consoleSession: [] } : { consoleSession: [], csrfToken: [] }];
};

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
    description: 'The embed token that a session was exchanged for',
  },
  environmentToken: {
    type: 'apiKey',
    in: 'header',
    name: 'Authorization',
    description: 'An environment token, with or without `Bearer` in front of it',
  },
  consoleSession: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-oriel',
    description: 'The cookie of a person who signed in by browser; `oriel` without TLS',
  },
  csrfToken: {
    type: 'apiKey',
    in: 'header',
    name: 'X-CSRF-Token',
    description:
      'The field `csrf` of a form in one of our pages. A change with the cookie needs it, and the `Origin` of this server',
  },
};

const REQUEST_HEADERS = {
  'X-Request-Id':
    'Your own id for the request: 8 to 64 letters, digits, `_`, `.` and `-`. The reply, the log and the audit log repeat it. A value of another form is ignored.',
  'If-Match':
    'The `ETag` that the resource had when you read it, or several. If the resource has another one by now, the reply is a 412 and nothing changes.',
  'If-None-Match':
    'To read: the `ETag` that the resource had; if it still has it, the reply is a 304. To change: `*` only creates; if the resource exists already, the reply is a 412.',
};
type RequestHeader = keyof typeof REQUEST_HEADERS;

const PARAMETERS = Object.fromEntries(
  Object.entries(REQUEST_HEADERS).map(([name, description]) => [
    name,
    { name, in: 'header', required: false, description, schema: { type: 'string' } },
  ]),
);

const REPLY_HEADERS = {
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

export function openApiDocument(operations: readonly Operation[]): Json {
  const hoist = createHoist();
  const sharedReplies: Record<string, Json> = {};
  const errorExamples: Record<string, Json> = {};

  const parameters = (op: Operation) =>
    (['params', 'query', 'headers'] as const).flatMap((part) =>
      Object.entries(op[part]).map(([name, schema]) => {
        const { description: said, deprecated, ...rest } = hoist(schema);
        const place = PARAMETER_PLACES[part];
        const description = describeParameter(op, place, name, said);
        const required = !Type.IsOptional(schema);
        const example = parameterExampleOf(op, name, schema);
        return {
          name,
          in: place,
          required,
          ...(description ? { description } : {}),
          ...(deprecated ? { deprecated } : {}),
          // The reference fills these in. It would send optional ones too, so they get none.
          ...(required && example !== undefined ? { example } : {}),
          schema: rest,
        };
      }),
    );

  const bodyContent = (op: Operation, body: BodyKind) => {
    if (body.kind === 'bytes') return binary(bodyTypesOf(body));
    const given = bodyExampleOf(op, body);
    const example = given === undefined ? {} : { example: given };
    if (body.kind === 'formOrJson') {
      const [form, json] = bodyTypesOf(body) as [string, string];
      const formExample = given === undefined ? {} : { example: asForm(given) };
      return {
        [form]: { schema: hoist(body.form), ...formExample },
        [json]: { schema: hoist(body.schema), ...example },
      };
    }
    if (body.kind !== 'multipart')
      return content(bodyTypesOf(body), { schema: hoist(body.schema), ...example });
    const { schema, encoding } = multipart(body);
    return content(bodyTypesOf(body), { schema: hoist(schema), encoding, ...example });
  };

  const replyContent = (reply: ReplyKind) => {
    const types = replyTypesOf(reply);
    switch (reply.kind) {
      case 'json':
      case 'jsonText':
        return content(types, { schema: hoist(reply.schema) });
      case 'ndjson':
        return content(types, { schema: TEXT, 'x-each': { line: hoist(reply.schema) } });
      case 'eventStream':
        return content(types, { schema: TEXT, 'x-each': { event: { anyOf: eventSchemas(reply.events) } } });
      case 'bytes':
        return binary(types);
      default:
        return content(types, { schema: TEXT });
    }
  };

  const eventSchemas = (events: TProperties) =>
    Object.entries(events).map(([name, schema]) => ({
      type: 'object',
      properties: {
        event: { enum: [name], description: 'The name of the event' },
        data: { ...hoist(schema), description: 'What happened, as JSON' },
        id: { type: 'string', description: 'Where to go on from after the connection was lost' },
      },
      required: ['event', 'data'],
      additionalProperties: false,
    }));

  const errorReplies = (op: Operation) => {
    const codes = errorCodesOf(op);
    const statuses = new Set(codes.map((code) => errorCatalogue[code].status));
    const having = (status: number) => codes.filter((code) => errorCatalogue[code].status === status);
    return Object.fromEntries(
      [...statuses].map((status) => [status, errorReply(status, having(status), shapeOf(op, status))]),
    );
  };

  /** A reply with a single code is the same in every operation, so the document defines it once. */
  const errorReply = (status: number, codes: ErrorCode[], shape: ErrorShape) => {
    const [code, ...more] = codes as [ErrorCode, ...ErrorCode[]];
    if (more.length) return describeError(status, codes, shape);
    const name = shape === 'standard' ? code : `${shape}_${code}`;
    sharedReplies[name] ??= describeError(status, codes, shape);
    return { $ref: `#/components/responses/${name}` };
  };

  const describeError = (status: number, codes: ErrorCode[], shape: ErrorShape) => ({
    description: `${STATUS_TEXT[status]}: ${codes.map((code) => `\`${code}\``).join(', ')}`,
    headers: replyHeaders(
      'X-Request-Id',
      ...(shape === 'standard' ? [] : ['X-Error-Code' as const]),
      ...(status === 401 ? ['WWW-Authenticate' as const] : []),
      ...(status === 429 || status === 503 ? ['Retry-After' as const] : []),
    ),
    content: content([errorShapes[shape].contentType], {
      schema: errorSchema(codes, shape),
      ...(shape === 'page' ? {} : { examples: examplesOf(codes, shape) }),
    }),
  });

  /** An error looks the same in every operation, so the document has it once. */
  const examplesOf = (codes: ErrorCode[], shape: ErrorShape) =>
    Object.fromEntries(
      codesToShow(codes).map((code) => {
        const name = shape === 'standard' ? code : `${shape}_${code}`;
        errorExamples[name] ??= { summary: errorCatalogue[code].message, value: errorExample(code, shape) };
        return [code, { $ref: `#/components/examples/${name}` }];
      }),
    );

  const errorSchema = (codes: ErrorCode[], shape: ErrorShape) =>
    shape === 'standard'
      ? { allOf: [hoist(ErrorReply), { type: 'object', properties: { code: { enum: codes } } }] }
      : hoist(errorShapes[shape].schema);

  const success = (op: Operation) => {
    const reply = replyKindOf(op);
    return {
      description: SUCCESS_TEXT[reply?.kind ?? 'nothing'],
      headers: {
        ...replyHeaders(
          'X-Request-Id',
          ...(sendsEtag(op) ? ['ETag' as const] : []),
          ...(reply?.kind === 'redirect' ? ['Location' as const] : []),
        ),
        ...ownHeaders(op),
      },
      ...(reply && reply.kind !== 'redirect' ? { content: replyContent(reply) } : {}),
    };
  };

  const nothing = (op: Operation) => ({
    description: SUCCESS_TEXT.nothing,
    headers: replyHeaders('X-Request-Id', ...(sendsEtag(op) ? ['ETag' as const] : [])),
  });

  const redirect = {
    description: SUCCESS_TEXT.redirect,
    headers: replyHeaders('X-Request-Id', 'Location'),
  };

  const ownHeaders = (op: Operation) =>
    Object.fromEntries(
      Object.entries(op.replyHeaders).map(([name, schema]) => {
        const { description, ...rest } = hoist(schema);
        return [
          name,
          { ...(description ? { description } : {}), required: !Type.IsOptional(schema), schema: rest },
        ];
      }),
    );

  const body = (op: Operation) => {
    const kind = bodyKindOf(op);
    return (
      kind && { description: describeBody(op), required: !op.optionalBody, content: bodyContent(op, kind) }
    );
  };

  const describe = (op: Operation) => ({
    operationId: op.id,
    tags: [op.tag],
    summary: op.summary,
    description: describeOperation(op),
    security: [
      ...SECURITY[op.auth],
      ...(op.embed && op.auth !== 'embed' ? SECURITY.embed : []),
      ...cookieFor(op),
    ],
    ...(op.permission === 'none' ? {} : { 'x-permission': op.permission }),
    parameters: [...parameters(op), ...requestHeadersOf(op).map(refToParameter)],
    ...(body(op) ? { requestBody: body(op) } : {}),
    responses: {
      ...(neverSucceeds(op) ? {} : { [successStatus(op)]: success(op) }),
      ...(mayAnswerNothing(op) ? { 204: nothing(op) } : {}),
      ...(mayRedirect(op) ? { 303: redirect } : {}),
      ...(answersNotModified(op) ? { 304: NOT_MODIFIED } : {}),
      ...errorReplies(op),
    },
  });

  const paths: Record<string, Json> = {};
  for (const op of operations) {
    paths[op.path] ??= { parameters: [refToParameter('X-Request-Id')] };
    paths[op.path]![op.method.toLowerCase()] = describe(op);
  }

  const responses = sorted(sharedReplies);
  const references = JSON.stringify([paths, responses]);
  /** Names that nothing refers to would only be noise in generated clients. */
  const used = <T>(kind: 'headers' | 'parameters', all: Record<string, T>) =>
    Object.fromEntries(
      Object.entries(all).filter(([name]) => references.includes(`"#/components/${kind}/${name}"`)),
    );

  return {
    openapi: '3.1.0',
    info: {
      title: 'Oriel',
      version: '1.0.0',
      description: INTRODUCTION,
      contact: { name: 'The Oriel project' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this document came from' }],
    tags: inReadingOrder(Object.entries(tags))
      .filter(([name]) => operations.some((op) => op.tag === name))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        Object.entries(SECURITY_SCHEMES).filter(([name]) => references.includes(`"${name}":[]`)),
      ),
      parameters: used('parameters', PARAMETERS),
      headers: used('headers', REPLY_HEADERS),
      responses,
      examples: sorted(errorExamples),
      schemas: sorted(hoist.components),
    },
  };
}

/** Headers are found too large before the address is known, so that error always has the standard form. */
const shapeOf = (op: Operation, status: number): ErrorShape =>
  status === 431 ? 'standard' : (op.errorShape ?? 'standard');

const PARAMETER_PLACES = { params: 'path', query: 'query', headers: 'header' } as const;

const requestHeadersOf = (op: Operation): RequestHeader[] => [
  ...(takesIfMatch(op) ? ['If-Match' as const] : []),
  ...(takesIfNoneMatch(op) ? ['If-None-Match' as const] : []),
];

const refToParameter = (name: RequestHeader) => ({ $ref: `#/components/parameters/${name}` });

const replyHeaders = (...names: ReplyHeader[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const sorted = (record: Record<string, Json>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));

const NOT_MODIFIED = {
  description: 'The resource still has the version that `If-None-Match` names',
  headers: replyHeaders('X-Request-Id', 'ETag'),
};
