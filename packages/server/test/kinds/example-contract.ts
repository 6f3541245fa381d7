/** Operations of every kind, which exist only for tests. */
import {
  alsoAs,
  Bytes,
  BytesBody,
  Csv,
  EventStream,
  Form,
  FormOrJson,
  Html,
  JsonAs,
  Multipart,
  Ndjson,
  Nothing,
  operation,
  Redirect,
} from '@oriel/contract';
import { Type } from 'typebox';

const KB = 1024;

/** The time limit of the slow operations. A busy machine keeps it for a handler that has nothing to do. */
export const SLOW_MS = 3000;

const closed = <P extends Parameters<typeof Type.Object>[0]>(title: string, properties: P) =>
  Type.Object(properties, { title, additionalProperties: false });

const common = { tag: 'Users', summary: 'An example', permission: 'none', audit: 'none' } as const;
const keyed = { ...common, auth: 'management', scopedKeys: 'allowed' } as const;
const open = { ...common, auth: 'public' } as const;

const fields = {
  name: Type.String({ minLength: 1, maxLength: 20 }),
  count: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
  isNew: Type.Optional(Type.Boolean()),
};
const Fields = closed('ExampleFields', fields);
const Row = closed('ExampleRow', { id: Type.Integer(), name: Type.String() });
const rows = { rows: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })) };
/** The number of pieces after which the handler fails. */
const failing = { failAfter: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000_000 })) };
const code = { code: Type.String({ maxLength: 100 }) };
const File = closed('ExampleFile', {
  fileName: Type.Optional(Type.String()),
  contentType: Type.String(),
  size: Type.Integer(),
  sha256: Type.String(),
});

const putThing = operation({
  ...keyed,
  id: 'putThing',
  method: 'PUT',
  path: '/example/things/{id}',
  params: { id: Type.Integer({ minimum: 1, maximum: 100 }) },
  body: closed('ExampleThing', { name: fields.name }),
  reply: closed('ExampleThingReply', { id: Type.Integer(), name: Type.String() }),
});

const failure = { ...keyed, method: 'POST', query: code, body: Form(Fields), reply: Nothing } as const;
const failures = {
  errors: ['role_not_found', 'username_taken', 'forbidden', 'invalid_session'],
  rate: { max: 40, perSeconds: 3600 },
} as const;

const query = {
  ...common,
  method: 'GET',
  auth: 'query',
  params: { deploymentId: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }) },
  reply: closed('ExampleCaller', {
    kind: Type.String(),
    branchId: Type.Optional(Type.Integer()),
    isCreator: Type.Optional(Type.Boolean()),
    securityContext: Type.Optional(Type.Object({}, { additionalProperties: true })),
  }),
  errorShape: 'message',
} as const;

export const example = {
  getMeta: operation({
    ...query,
    id: 'getMeta',
    path: '/example/deployments/{deploymentId}/meta',
    queryScope: 'meta',
  }),
  getData: operation({
    ...query,
    id: 'getData',
    path: '/example/deployments/{deploymentId}/data',
    queryScope: 'data',
  }),
  postForm: operation({
    ...keyed,
    id: 'postForm',
    method: 'POST',
    path: '/example/form',
    body: Form(Fields),
    bodyLimitBytes: 1 * KB,
    reply: Fields,
  }),
  postFormOrJson: operation({
    ...open,
    id: 'postFormOrJson',
    method: 'POST',
    path: '/example/form-or-json',
    body: FormOrJson(Fields),
    reply: Fields,
  }),
  postScim: operation({
    ...keyed,
    id: 'postScim',
    method: 'POST',
    path: '/example/scim',
    body: JsonAs('application/scim+json', Fields),
    reply: JsonAs('application/scim+json', Fields),
    status: 201,
    errorShape: 'scim',
  }),
  getOfFamily: operation({
    ...keyed,
    id: 'getOfFamily',
    method: 'GET',
    path: '/example/family/things/{id}',
    params: { id: Type.Integer({ minimum: 1, maximum: 100 }) },
    reply: Nothing,
    errorShape: 'scim',
  }),
  postToFamily: operation({
    ...keyed,
    id: 'postToFamily',
    method: 'POST',
    path: '/example/family/others',
    reply: Nothing,
    errorShape: 'scim',
  }),
  postFiles: operation({
    ...keyed,
    id: 'postFiles',
    method: 'POST',
    path: '/example/files',
    body: Multipart(Fields, {
      files: { maxBytes: 300 * KB, maxCount: 3 },
      logo: { maxBytes: 1 * KB, optional: true, contentTypes: ['image/png'] },
    }),
    reply: closed('ExampleFiles', { fields: Fields, files: Type.Array(File), logos: Type.Integer() }),
  }),
  postBytes: operation({
    ...keyed,
    id: 'postBytes',
    method: 'POST',
    path: '/example/bytes',
    body: BytesBody(['application/zip', 'text/plain'], 300 * KB),
    reply: File,
  }),
  getRows: operation({
    ...keyed,
    id: 'getRows',
    method: 'GET',
    path: '/example/rows',
    query: { ...rows, ...failing },
    reply: Ndjson(Row),
    errors: ['role_not_found'],
  }),
  getTable: operation({
    ...keyed,
    id: 'getTable',
    method: 'GET',
    path: '/example/table',
    query: { ...rows, ...failing },
    reply: Csv,
    errors: ['role_not_found'],
  }),
  getPage: operation({
    ...open,
    id: 'getPage',
    method: 'GET',
    path: '/example/page',
    reply: Html,
  }),
  getEvents: operation({
    ...keyed,
    id: 'getEvents',
    method: 'GET',
    path: '/example/events',
    query: failing,
    reply: EventStream({
      progress: closed('ExampleProgress', { done: Type.Integer() }),
      finished: closed('ExampleFinished', { text: Type.String() }),
    }),
  }),
  getElsewhere: operation({
    ...open,
    id: 'getElsewhere',
    method: 'GET',
    path: '/example/elsewhere',
    query: { to: Type.String({ maxLength: 200 }) },
    reply: Redirect(303),
    errors: ['role_not_found'],
  }),
  getContent: operation({
    ...keyed,
    id: 'getContent',
    method: 'GET',
    path: '/example/content',
    query: { ...rows, ...failing },
    reply: Bytes('image/png', 'application/octet-stream'),
    errors: ['role_not_found'],
  }),
  getWithHeaders: operation({
    ...keyed,
    id: 'getWithHeaders',
    method: 'GET',
    path: '/example/headers',
    headers: {
      'x-branch': Type.String({ minLength: 1, maxLength: 20 }),
      'x-depth': Type.Optional(Type.Integer({ minimum: 1, maximum: 9 })),
    },
    reply: closed('ExampleHeaders', { branch: Type.String(), depth: Type.Optional(Type.Integer()) }),
    replyHeaders: {
      'x-branch-of': Type.String({ minLength: 3 }),
      'x-note': Type.Optional(Type.String()),
    },
  }),
  putThing,
  putThingByPost: alsoAs(putThing, { id: 'putThingByPost', method: 'POST', summary: 'As putThing' }),
  getRarely: operation({
    ...keyed,
    id: 'getRarely',
    method: 'GET',
    path: '/example/rarely',
    rate: { max: 2, perSeconds: 3600 },
    reply: Nothing,
  }),
  postRarely: operation({
    ...open,
    id: 'postRarely',
    method: 'POST',
    path: '/example/rarely',
    rate: { max: 2, perSeconds: 3600 },
    body: Form(Fields),
    reply: Nothing,
  }),
  getSlowly: operation({
    ...keyed,
    id: 'getSlowly',
    method: 'GET',
    path: '/example/slowly',
    query: { ms: Type.Integer({ minimum: 0, maximum: 60_000 }) },
    timeoutMs: SLOW_MS,
    reply: Nothing,
  }),
  changeSlowly: operation({
    ...keyed,
    id: 'changeSlowly',
    method: 'POST',
    path: '/example/slowly',
    query: { ms: Type.Integer({ minimum: 0, maximum: 60_000 }) },
    timeoutMs: SLOW_MS,
    reply: Nothing,
    audit: 'example',
  }),
  failStandard: operation({ ...failure, ...failures, id: 'failStandard', path: '/example/fail/standard' }),
  failOauth: operation({
    ...failure,
    ...failures,
    id: 'failOauth',
    path: '/example/fail/oauth',
    errorShape: 'oauth',
  }),
  failScim: operation({
    ...failure,
    ...failures,
    id: 'failScim',
    path: '/example/fail/scim',
    errorShape: 'scim',
  }),
  failMessage: operation({
    ...failure,
    ...failures,
    id: 'failMessage',
    path: '/example/fail/message',
    errorShape: 'message',
  }),
};

export type Example = typeof example;
