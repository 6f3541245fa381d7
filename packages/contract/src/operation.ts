/** What an operation is: data, from which routes, validation, documentation, client and tests are made. */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { Action } from './actions.ts';
import type { ErrorShape } from './error-shapes.ts';
import type { ErrorCode } from './errors.ts';
import type { AnsweredReply, BodyKind, ReceivedBody, ReplyKind } from './kinds.ts';
import type { Tag } from './tags.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Which credential an operation takes: none; an API key, a person's token or, where `embed` says so, an embed token; an
 * API key only; an embed token only.
 */
export type Auth = 'public' | 'management' | 'apiKey' | 'embed';

/** Whose embed tokens reach an operation: any viewer's, or only those of creator mode; undefined means nobody's. */
export type EmbedAccess = 'viewer' | 'creator' | undefined;

/**
 * What an API key that is scoped to deployments meets on an account-wide operation: it passes like any other key; it is
 * refused; or the handler itself keeps it within its scope.
 */
export type ScopedKeys = 'allowed' | 'refused' | 'handler';

/** Said on each operation that takes an API key and has no deployment in its path, and on no other. */
type SaysScopedKeys<A extends Auth, P> = A extends 'public' | 'embed'
  ? { scopedKeys?: never }
  : 'deploymentId' extends keyof P
    ? { scopedKeys?: never }
    : { scopedKeys: ScopedKeys };

/** At most `max` calls in `perSeconds`, of one credential or, by default for public operations, of one address. */
export interface Rate {
  max: number;
  perSeconds: number;
  per?: 'credential' | 'address';
}

/** The body schema of an operation without body, and the reply schema of one that answers 204. */
export const Nothing = Type.Void();
export type TNothing = typeof Nothing;

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
> {
  id: Id;
  tag: Tag;
  method: Method;
  /** With `{name}` for each path parameter. */
  path: string;
  /** Makes the path that of a collection, where no list at the same path does; see `collectionPaths`. */
  trailingSlash?: true;
  summary: string;
  description?: string;
  auth: A;
  /** The action that the caller needs; `none` lets every valid credential pass. */
  permission: Action | 'none';
  /**
   * `resource` where the action is needed on what the path names, by policy, ownership or role, instead of by role
   * alone; the handler then loads the resource with the level that it needs.
   */
  permissionOn?: 'resource';
  embed?: E;
  /** Required or absent by what else is said; see `SaysScopedKeys`. */
  scopedKeys?: ScopedKeys;
  params?: P;
  query?: Q;
  /** Of the request, by their names in lower case. */
  headers?: H;
  /** A schema means JSON; see `kinds.ts` for what else a body can be. */
  body?: B;
  /** A request without a body counts as one with `{}`. */
  optionalBody?: true;
  /**
   * The resource has a version: replies carry it as `ETag`, and a change takes it back as `If-Match`, a 412 where it is
   * no longer true. An `upsert` also takes `If-None-Match: *`, which creates and never changes. With `sent`, the reply
   * carries the version, and there is nothing to compare yet.
   */
  conditional?: true | 'upsert' | 'sent';
  /** The most that a body may have; see `bodyLimitOf` for what holds where nothing is said. */
  bodyLimitBytes?: number;
  /** How often one caller may call. Each server counts for itself. */
  rate?: Rate;
  /** How long the handler may take until it answers, or until the first piece of a stream; beyond it: 504. */
  timeoutMs?: number;
  /** A schema means JSON; see `kinds.ts` for what else a reply can be. */
  reply: R;
  /** Of the reply, by their names in lower case. */
  replyHeaders?: RH;
  /** 200 where it is not given, or what the kind of the reply brings along. */
  status?: 201 | 202;
  errors?: readonly ErrorCode[];
  /** The form of every error of this operation, where it is not the one of all others. */
  errorShape?: ErrorShape;
  /** The noun whose change is written to the audit log, or `none` where nothing changes. */
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
> extends OperationSpec<Id, P, Q, B, R, Audit, A, E, H, RH> {
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
/** What the handler gets. */
export type BodyOf<O extends Operation> = O['body'] extends TNothing ? undefined : ReceivedBody<O['body']>;
/** What the handler answers with. */
export type ReplyOf<O extends Operation> = O['reply'] extends TNothing
  ? undefined
  : AnsweredReply<O['reply']>;

export function operation<
  const Id extends string,
  // biome-ignore lint/complexity/noBannedTypes: an operation without parameters has exactly no properties
  P extends TProperties = {},
  // biome-ignore lint/complexity/noBannedTypes: as above
  Q extends TProperties = {},
  B extends TSchema = TNothing,
  R extends TSchema = TNothing,
  const Audit extends string = string,
  const A extends Auth = Auth,
  const E extends EmbedAccess = undefined,
  // biome-ignore lint/complexity/noBannedTypes: as above
  H extends TProperties = {},
  // biome-ignore lint/complexity/noBannedTypes: as above
  RH extends TProperties = {},
>(
  spec: OperationSpec<Id, P, Q, B, R, Audit, A, E, H, RH> & SaysScopedKeys<A, NoInfer<P>>,
): Operation<Id, P, Q, B, R, Audit, A, E, H, RH> {
  return {
    params: {} as P,
    query: {} as Q,
    headers: {} as H,
    body: Nothing as unknown as B,
    replyHeaders: {} as RH,
    errors: [],
    ...spec,
  } as Operation<Id, P, Q, B, R, Audit, A, E, H, RH>;
}

/** The same operation under another method, with an id of its own; one handler serves both, see `handleEach`. */
export const alsoAs = <O extends Operation, const Id extends string>(
  op: O,
  other: { id: Id; method: Method; summary: string },
) => ({ ...op, ...other }) as Omit<O, 'id'> & { id: Id };

const isKind = (value: TSchema): value is { kind: string } => 'kind' in value;

/** What the body is; nothing where there is none. */
export function bodyKindOf(op: Operation): BodyKind | undefined {
  if (!hasBody(op)) return undefined;
  if (isKind(op.body)) return op.body as BodyKind;
  return { kind: 'json', schema: op.body, contentType: JSON_TYPE };
}

/** What the reply is; nothing where it is a 204. */
export function replyKindOf(op: Operation): ReplyKind | undefined {
  if (op.reply === (Nothing as TSchema)) return undefined;
  if (isKind(op.reply)) return op.reply as ReplyKind;
  return { kind: 'json', schema: op.reply, contentType: JSON_TYPE };
}

const JSON_TYPE = 'application/json';
const FORM_TYPE = 'application/x-www-form-urlencoded';

/** The content types under which a body is taken. */
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
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  html: 'text/html',
  eventStream: 'text/event-stream',
} as const;

/** The content types under which a reply is sent. */
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
export const isCursorList = (op: Operation) => 'first' in op.query && 'after' in op.query;
export const isDeploymentOperation = (op: Operation) => 'deploymentId' in op.params;
export const sendsEtag = (op: Operation) => op.conditional !== undefined && successStatus(op) !== 204;
export const takesIfMatch = (op: Operation) =>
  op.conditional !== undefined && op.conditional !== 'sent' && op.method !== 'GET';
export const takesIfNoneMatch = (op: Operation) => op.conditional === 'upsert';
/** Public operations take no credential, and those of embedded pages an embed token only. */
export const takesApiKey = (op: Operation) => op.auth === 'management' || op.auth === 'apiKey';
export const isAudited = (op: Operation) => op.audit !== 'none';

/** The paths of lists and of what is created. They answer with and without a slash behind them, for all methods. */
export const collectionPaths = (operations: readonly Operation[]): ReadonlySet<string> =>
  new Set(operations.filter((op) => op.trailingSlash || isCursorList(op)).map(({ path }) => path));

const KB = 1024;

/** None where there is no body, what its files may have where it has files, and little from callers whom we do not know. */
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
