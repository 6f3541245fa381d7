/** The OpenAPI 3.1 document, made from the operations. */
import { type TSchema, Type } from 'typebox';
import { type ErrorCode, errorCatalogue } from './errors.ts';
import { errorCodesOf, hasBody, type Operation, successStatus } from './operation.ts';
import { ErrorReply } from './schemas.ts';

type Json = Record<string, unknown>;

const SECURITY = {
  public: [],
  management: [{ bearer: [] }, { apiKey: [] }],
  apiKey: [{ apiKey: [] }, { bearer: [] }],
  embed: [{ embedToken: [] }],
} satisfies Record<Operation['auth'], object[]>;

const STATUS_TEXT: Record<number, string> = {
  400: 'The request is wrong, in form or in what it refers to',
  401: 'No credential, or a bad one',
  403: 'The caller may not',
  404: 'No such thing, or none that the caller may know of',
  408: 'The request did not arrive in time',
  409: 'The state forbids it',
  412: 'The resource has changed since it was read',
  413: 'The body is too large',
  415: 'The body is not JSON',
  429: 'Too many requests',
  500: 'Something went wrong on our side',
  503: 'The service can not answer right now',
};

export function openApiDocument(operations: readonly Operation[]): Json {
  const components: Record<string, Json> = {};
  const sharedReplies: Record<string, Json> = {};

  /** Moves schemas with a title to the components and leaves references in their place. */
  const hoist = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(hoist);
    if (typeof schema !== 'object' || schema === null) return schema;
    const { title, ...rest } = schema as Json & { title?: string };
    const body = () => Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, hoist(value)]));
    if (typeof title !== 'string') return body();
    const ref = { $ref: `#/components/schemas/${title}` };
    const nullable = Array.isArray(rest.type) || (Array.isArray(rest.enum) && rest.enum.includes(null));
    if (Array.isArray(rest.type)) rest.type = rest.type.find((type) => type !== 'null');
    if (Array.isArray(rest.enum)) rest.enum = rest.enum.filter((value) => value !== null);
    const component = body() as Json;
    components[title] ??= component;
    if (JSON.stringify(components[title]) !== JSON.stringify(component)) {
      throw new Error(`two different schemas have the title ${title}`);
    }
    return nullable ? { anyOf: [ref, { type: 'null' }] } : ref;
  };

  const parameters = (op: Operation) =>
    (['params', 'query'] as const).flatMap((part) =>
      Object.entries(op[part]).map(([name, schema]) => {
        const { description, ...rest } = hoist(schema) as Json;
        const required = !Type.IsOptional(schema);
        return {
          name,
          in: part === 'params' ? 'path' : 'query',
          required,
          ...(description ? { description } : {}),
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
    content: {
      'application/json': {
        schema: { allOf: [hoist(ErrorReply), { properties: { code: { enum: codes } } }] },
      },
    },
  });

  const describe = (op: Operation) => ({
    operationId: op.id,
    tags: [op.tag],
    summary: op.summary,
    ...(op.description ? { description: op.description } : {}),
    security: [...SECURITY[op.auth], ...(op.embed && op.auth === 'management' ? SECURITY.embed : [])],
    ...(op.permission === 'none' ? {} : { 'x-permission': op.permission }),
    parameters: parameters(op),
    ...(hasBody(op) ? { requestBody: { required: true, content: content(op.body) } } : {}),
    responses: {
      [successStatus(op)]:
        successStatus(op) === 204
          ? { description: 'Done' }
          : { description: 'Success', content: content(op.reply) },
      ...errorReplies(op),
    },
  });

  const paths: Record<string, Json> = {};
  for (const op of operations) {
    paths[op.path] = { ...paths[op.path], [op.method.toLowerCase()]: describe(op) };
  }

  return {
    openapi: '3.1.0',
    info: {
      title: 'Oriel',
      version: '1.0.0',
      description: 'Manage an analytics platform and mint embed sessions.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The server that this document came from' }],
    tags: [...new Set(operations.map((op) => op.tag))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token, or an API key' },
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'Authorization',
          description: '`Api-Key sk-…`, with the scheme word in front of the key',
        },
        embedToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'What an embed session was exchanged for',
        },
      },
      responses: sorted(sharedReplies),
      schemas: sorted(components),
    },
  };
}

const sorted = (record: Record<string, Json>) =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
