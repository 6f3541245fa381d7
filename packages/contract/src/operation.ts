/** An operation is data. Routes, validation, documentation, client and tests are made from it. */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import { type Action, everydayActions } from './actions.ts';
import type { ErrorShape } from './error-shapes.ts';
import type { ErrorCode } from './errors.ts';
import type { AnsweredReply, BodyKind, ReceivedBody, ReplyKind } from './kinds.ts';
import type { Tag } from './tags.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The credential that an operation takes: none; an API key, a person's token or, if `embed` allows it, an embed token;
 * an API key only; an embed token only; the cookie of a person who signed in by browser. `query` takes what
 * `management` takes and environment tokens, and each of them also without a scheme.
 */
export type Auth = 'public' | 'management' | 'apiKey' | 'embed' | 'console' | 'query';

/**
 * What an environment token must allow: to read what can be queried, or to query it. `none` if no environment token is
 * accepted, whatever it allows.
 */
export type QueryScope = 'meta' | 'data' | 'none';

/** Required on each operation that may take an environment token, and forbidden on all others. */
type SaysQueryScope<A extends Auth> = A extends 'query' ? { queryScope: QueryScope } : { queryScope?: never };

/** The embed tokens that may call an operation: all, or only those in creator mode; undefined means none. */
export type EmbedAccess = 'viewer' | 'creator' | undefined;

/**
 * How an account-wide operation treats an API key that is scoped to deployments: it accepts the key like any other; it
 * refuses the key; or its handler keeps the key within its scope.
 */
export type ScopedKeys = 'allowed' | 'refused' | 'handler';

/** Required on each operation that takes an API key and has no deployment in its path, and forbidden on all others. */
type SaysScopedKeys<A extends Auth, P> = A extends 'public' | 'embed' | 'console'
  ? { scopedKeys?: never }
  : 'deploymentId' extends keyof P
    ? { scopedKeys?: never }
    : { scopedKeys: ScopedKeys };

/** At most `max` calls in `perSeconds` by one credential or, by default for public operations, from one address. */
export interface Rate {
  max: number;
  perSeconds: number;
  per?: 'credential' | 'address';
}

/** The body schema of an operation without a body, and the reply schema of an operation that returns 204. */
export const Nothing = Type.Void();
export type TNothing = typeof Nothing;
/** The reply schema of an operation that always returns an error. */
export const Never = Type.Never();

export interface OperationSpec<
  Id extends string,
  P extends TProperties,
  Q extends TProperties,
  B extends TSchema,
  R extends TSchema,
  Audit extends string,
  A extends Auth = Auth,
  E extends EmbedAccess = EmbedAccess,
  H extends TProperties = TProperties,
  RH extends TProperties = TProperties,
  OB extends true | undefined = true | undefined,
> {
  id: Id;
  tag: Tag;
  method: Method;
  /** The path, with `{name}` for each parameter. */
  path: string;
  /** Marks the path as the path of a collection, if no list has the same path; see `collectionPaths`. */
  trailingSlash?: true;
  summary: string;
  description?: string;
  auth: A;
  /** The action that the caller needs; `none` accepts every valid credential. */
  permission: Action | 'none';
  /**
   * `resource` if the caller needs the action on the resource that the path names, by policy, ownership or role,
   * instead of by role alone. The handler then loads the resource with the level that it needs. `unlessCreator` if
   * embed tokens in creator mode do not need the action, because the handler decides by a setting.
   */
  permissionOn?: 'resource' | 'unlessCreator';
  embed?: E;
  /**
   * Pages of other origins may call it, with a token in the Authorization header: never with a cookie, and never with
   * an API key. The account's setting `embedAllowedOrigins` says which origins.
   */
  crossOrigin?: true;
  /** Required or forbidden, depending on `auth`; see `SaysQueryScope`. */
  queryScope?: QueryScope;
  /** Required or forbidden, depending on the other properties; see `SaysScopedKeys`. */
  scopedKeys?: ScopedKeys;
  params?: P;
  query?: Q;
  /** Headers of the request. The keys are their names in lower case. */
  headers?: H;
  /** A schema means JSON; see `kinds.ts` for the other kinds of bodies. */
  body?: B;
  /** A request without a body is treated as one with `{}`. */
  optionalBody?: OB;
  /**
   * The resource has a version. Replies carry it as `ETag`, and a change takes it back as `If-Match`; if the version is
   * no longer current, the reply is a 412. A read takes it back as `If-None-Match`; if it is still current, the reply is
   * a 304. An `upsert` also takes `If-None-Match: *`, which only creates. With `sent`,
   * the reply carries the version, but the request does not compare one.
   */
  conditional?: true | 'upsert' | 'sent';
  /** The largest body, in bytes; see `bodyLimitOf` for the default. */
  bodyLimitBytes?: number;
  /** How often one caller may call. Each server counts separately. */
  rate?: Rate;
  /** The time until the handler must return, or send the first piece of a stream. After that time the reply is a 504. */
  timeoutMs?: number;
  /** A schema means JSON; see `kinds.ts` for the other kinds of replies. */
  reply: R;
  /** The reply holds secrets, such as the values of variables. */
  secretReply?: true;
  /** Headers of the reply. The keys are their names in lower case. */
  replyHeaders?: RH;
  /** By default 200, or the status of the redirect. */
  status?: 201 | 202;
  errors?: readonly ErrorCode[];
  /** The form of every error of this operation, if it is not the standard one. */
  errorShape?: ErrorShape;
  /** The noun whose change is written to the audit log, or `none` if nothing changes. */
  audit: Audit;
}

export interface Operation<
  Id extends string = string,
  P extends TProperties = TProperties,
  Q extends TProperties = TProperties,
  B extends TSchema = TSchema,
  R extends TSchema = TSchema,
  Audit extends string = string,
  A extends Auth = Auth,
  E extends EmbedAccess = EmbedAccess,
  H extends TProperties = TProperties,
  RH extends TProperties = TProperties,
  OB extends true | undefined = true | undefined,
> extends OperationSpec<Id, P, Q, B, R, Audit, A, E, H, RH, OB> {
  params: P;
  query: Q;
  headers: H;
  body: B;
  replyHeaders: RH;
  errors: readonly ErrorCode[];
}

export type ParamsOf<O extends Operation> = Static<TObject<O['params']>>;
export type QueryOf<O extends Operation> = Static<TObject<O['query']>>;
export type HeadersOf<O extends Operation> = Static<TObject<O['headers']>>;
/** The body that the handler receives. */
export type BodyOf<O extends Operation> = O['body'] extends TNothing ? undefined : ReceivedBody<O['body']>;
/** The reply that the handler returns. */
export type ReplyOf<O extends Operation> = O['reply'] extends TNothing
  ? undefined
  : AnsweredReply<O['reply']>;

export function operation<
  const Id extends string,
  // biome-ignore lint/complexity/noBannedTypes: an operation without parameters has exactly no properties
  P extends TProperties = {},
  // biome-ignore lint/complexity/noBannedTypes: the type must have exactly no properties
  Q extends TProperties = {},
  B extends TSchema = TNothing,
  R extends TSchema = TNothing,
  const Audit extends string = string,
  const A extends Auth = Auth,
  const E extends EmbedAccess = undefined,
  // biome-ignore lint/complexity/noBannedTypes: the type must have exactly no properties
  H extends TProperties = {},
  // biome-ignore lint/complexity/noBannedTypes: the type must have exactly no properties
  RH extends TProperties = {},
  const OB extends true | undefined = undefined,
>(
  spec: OperationSpec<Id, P, Q, B, R, Audit, A, E, H, RH, OB> &
    SaysScopedKeys<A, NoInfer<P>> &
    SaysQueryScope<A>,
): Operation<Id, P, Q, B, R, Audit, A, E, H, RH, OB> {
  return {
    params: {} as P,
    query: {} as Q,
    headers: {} as H,
    body: Nothing as unknown as B,
    replyHeaders: {} as RH,
    errors: [],
    ...spec,
  } as Operation<Id, P, Q, B, R, Audit, A, E, H, RH, OB>;
}

/** The same operation with its own id and another method or path. One handler serves both; see `handleEach`. */
export const alsoAs = <O extends Operation, const Id extends string>(
  op: O,
  other: { id: Id; method?: Method; path?: string; summary: string },
) => ({ ...op, ...other }) as Omit<O, 'id'> & { id: Id };

const isKind = (value: TSchema): value is { kind: string } => 'kind' in value;

/** Returns the kind of the body, or nothing if the operation has no body. */
export function bodyKindOf(op: Operation): BodyKind | undefined {
  if (!hasBody(op)) return undefined;
  if (isKind(op.body)) return op.body as BodyKind;
  return { kind: 'json', schema: op.body, contentType: JSON_TYPE };
}

/** Returns the kind of the reply, or nothing if the reply is a 204 or always an error. */
export function replyKindOf(op: Operation): ReplyKind | undefined {
  if (op.reply === (Nothing as TSchema) || neverSucceeds(op)) return undefined;
  if (isKind(op.reply)) return op.reply as ReplyKind;
  return { kind: 'json', schema: op.reply, contentType: JSON_TYPE };
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The content types that a body may have. */
export function bodyTypesOf(body: BodyKind): readonly string[] {
  switch (body.kind) {
    case 'json':
      return [...new Set([body.contentType, JSON_TYPE])];
    case 'form':
      return [FORM_TYPE];
    case 'formOrJson':
      return [FORM_TYPE, JSON_TYPE];
    case 'multipart':
      return ['multipart/form-data'];
    case 'bytes':
      return body.contentTypes;
  }
}

const REPLY_TYPES = {
  jsonText: JSON_TYPE,
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  html: 'text/html',
  eventStream: 'text/event-stream',
} as const;

/** The content types that a reply may have. */
export function replyTypesOf(reply: ReplyKind): readonly string[] {
  if (reply.kind === 'json') return [reply.contentType];
  if (reply.kind === 'bytes') return reply.contentTypes;
  return reply.kind === 'redirect' ? [] : [REPLY_TYPES[reply.kind]];
}

export const hasBody = (op: Operation) => op.body !== (Nothing as TSchema);
export function successStatus(op: Operation): number {
  const reply = replyKindOf(op);
  if (!reply) return 204;
  return op.status ?? (reply.kind === 'redirect' ? reply.status : 200);
}
/** Whether the reply may be a 204 although the operation has a reply. */
export function mayAnswerNothing(op: Operation): boolean {
  const reply = replyKindOf(op);
  return reply?.kind === 'json' && reply.orNothing === true;
}
/** Whether the reply may be a 303 although the operation has a page. */
export function mayRedirect(op: Operation): boolean {
  const reply = replyKindOf(op);
  return reply?.kind === 'html' && reply.orRedirect === true;
}
export const neverSucceeds = (op: Operation) => op.reply === (Never as TSchema);
export const isCursorList = (op: Operation) => 'first' in op.query && 'after' in op.query;
export const isDeploymentOperation = (op: Operation) => 'deploymentId' in op.params;
export const sendsEtag = (op: Operation) => op.conditional !== undefined && successStatus(op) !== 204;
export const takesIfMatch = (op: Operation) =>
  op.conditional !== undefined && op.conditional !== 'sent' && op.method !== 'GET';
/** A reader who names the current version in `If-None-Match` gets a 304. */
export const answersNotModified = (op: Operation) => op.method === 'GET' && sendsEtag(op);
export const takesIfNoneMatch = (op: Operation) => op.conditional === 'upsert' || answersNotModified(op);
/** Public operations take no credential, and operations for embedded pages take only an embed token. */
export const takesApiKey = ({ auth }: Operation) =>
  auth === 'management' || auth === 'apiKey' || auth === 'query';
/**
 * Whether the operation needs an action that, of the roles that every account has, only `Admin` allows. Content does not
 * count, because its owners share it as they like.
 */
export const isForAdmins = (op: Operation) =>
  op.permission !== 'none' && op.permissionOn !== 'resource' && !everydayActions.has(op.permission);
/** Whether a browser sends it from one of our pages. */
export const isPageForm = (op: Operation) =>
  (op.errorShape === 'page' || op.auth === 'console') && op.method !== 'GET';
export const isAudited = (op: Operation) => op.audit !== 'none';

/**
 * Whether the reply may be compressed. The size of a compressed text tells how far one part of it repeats another, so
 * replies that hold secrets are sent as they are: those with new credentials, and pages with the tokens of their forms.
 */
export function isCompressible(op: Operation): boolean {
  const { kind } = replyKindOf(op) ?? {};
  if (kind === undefined || kind === 'html' || kind === 'eventStream' || kind === 'redirect') return false;
  const isRead = ['management', 'query', 'embed'].includes(op.auth) && !isAudited(op);
  return isRead && !op.secretReply;
}

/** The paths of lists and of creations. All methods on them work with and without a slash at the end. */
export const collectionPaths = (operations: readonly Operation[]): ReadonlySet<string> =>
  new Set(operations.filter((op) => op.trailingSlash || isCursorList(op)).map(({ path }) => path));

const KB = 1024;

/** The largest body: zero without a body; enough for the files if the body has files; little for unknown callers. */
export function bodyLimitOf(op: Operation): number {
  const body = bodyKindOf(op);
  if (!body) return 0;
  if (op.bodyLimitBytes !== undefined) return op.bodyLimitBytes;
  if (body.kind === 'bytes') return body.maxBytes;
  const fields = op.auth === 'public' ? 4 * KB : 256 * KB;
  if (body.kind !== 'multipart') return fields;
  const files = Object.values(body.files).map(({ maxBytes, maxCount = 1 }) => (maxBytes + KB) * maxCount);
  return files.reduce((sum, size) => sum + size, fields);
}
