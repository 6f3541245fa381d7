/** What an operation is: data, from which routes, validation, documentation, client and tests are made. */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { Action } from './actions.ts';
import type { ErrorCode } from './errors.ts';
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
  reply: R;
  errors?: readonly ErrorCode[];
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
> extends OperationSpec<Id, P, Q, B, R, Audit, A, E> {
  params: P;
  query: Q;
  body: B;
  errors: readonly ErrorCode[];
}

export type ParamsOf<O extends Operation> = Static<TObject<O['params']>>;
export type QueryOf<O extends Operation> = Static<TObject<O['query']>>;
export type BodyOf<O extends Operation> = O['body'] extends TNothing ? undefined : Static<O['body']>;
export type ReplyOf<O extends Operation> = O['reply'] extends TNothing ? undefined : Static<O['reply']>;

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
>(
  spec: OperationSpec<Id, P, Q, B, R, Audit, A, E> & SaysScopedKeys<A, NoInfer<P>>,
): Operation<Id, P, Q, B, R, Audit, A, E> {
  return {
    params: {} as P,
    query: {} as Q,
    body: Nothing as unknown as B,
    errors: [],
    ...spec,
  } as Operation<Id, P, Q, B, R, Audit, A, E>;
}

export const hasBody = (op: Operation) => op.body !== (Nothing as TSchema);
export const successStatus = (op: Operation) => (op.reply === (Nothing as TSchema) ? 204 : 200);
export const isCursorList = (op: Operation) => 'first' in op.query && 'after' in op.query;
export const isDeploymentOperation = (op: Operation) => 'deploymentId' in op.params;
export const sendsEtag = (op: Operation) => op.conditional !== undefined && successStatus(op) === 200;
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

/** None where there is no body, and little from callers whom we do not know. */
export function bodyLimitOf(op: Operation): number {
  if (!hasBody(op)) return 0;
  return op.bodyLimitBytes ?? (op.auth === 'public' ? 4 * KB : 256 * KB);
}
