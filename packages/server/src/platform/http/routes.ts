/** Binds handlers to operations of the contract. The input of a handler is already checked. */

import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import {
  answersNotModified,
  type BodyOf,
  bodyKindOf,
  collectionPaths,
  type HeadersOf,
  isAudited,
  isCompressible,
  isDeploymentOperation,
  isForAdmins,
  mayAnswerNothing,
  type Operation,
  type ParamsOf,
  type QueryOf,
  type ReplyOf,
  replyKindOf,
  successStatus,
} from '@oriel/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify';
import type { Static, TObject } from 'typebox';
import type { ChangeFunction, CommittedReply, OnChange } from '../audit/change.ts';
import type { RefusalAudit } from '../audit/events.ts';
import { authorize } from '../auth/access.ts';
import { type Actor, type CallerOf, embedOf, identityOf } from '../auth/actor.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Csrf } from '../auth/csrf.ts';
import { RefusedCallerError } from '../auth/refused-caller.ts';
import type { Database } from '../db/database.ts';
import { ApiError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { freeUploads } from './bodies.ts';
import { type Call, RequestCall } from './call.ts';
import { type Compressor, createCompression, varyByEncoding } from './compression.ts';
import { type AllowedOrigins, AREAS, type CrossOrigin, createCrossOrigin } from './cross-origin.ts';
import type { EmbedAdmission } from './embed-admission.ts';
import { isKnown } from './etag.ts';
import { methodsToRefuse } from './known-paths.ts';
import { guardForm } from './page-forms.ts';
import type { Cursors } from './pages.ts';
import { createRateLimit } from './rate-limit.ts';
import { recheck } from './recheck.ts';
import { discard, isStreamed, type PreparedReply, preparerOf, reportCut } from './replies.ts';
import { serializerOf } from './serializer.ts';
import { compileValidators } from './validation.ts';

export interface Input<O extends Operation> {
  params: ParamsOf<O>;
  query: QueryOf<O>;
  headers: HeadersOf<O>;
  body: BodyOf<O>;
}

/** For an operation that says which headers its reply has. */
type SendsHeaders<O extends Operation> = keyof O['replyHeaders'] extends never
  ? unknown
  : { sendHeaders(headers: Static<TObject<O['replyHeaders']>>): void };

/** An operation that changes something must return the result of `change`; see audit/change.ts. */
export type Handler<O extends Operation> = O['audit'] extends 'none'
  ? (call: Call<CallerOf<O>> & SendsHeaders<O>, input: Input<O>) => Promise<ReplyOf<O>> | ReplyOf<O>
  : (
      call: Call<CallerOf<O>> & SendsHeaders<O> & { change: ChangeFunction },
      input: Input<O>,
    ) => Promise<CommittedReply<ReplyOf<O>>>;

export interface Route {
  operation: Operation;
  handler: (call: Call & { change?: ChangeFunction }, input: Input<Operation>) => unknown;
}

export const handle = <O extends Operation>(operation: O, handler: Handler<NoInfer<O>>): Route => ({
  operation,
  handler: handler as Route['handler'],
});

/** Binds one handler to operations that differ only in id, method and path; see `alsoAs` in the contract. */
export const handleEach = <O extends Operation>(
  operations: readonly [O, ...Omit<O, 'id'>[]],
  handler: Handler<NoInfer<O>>,
): Route[] =>
  (operations as readonly Operation[]).map((operation) => ({
    operation,
    handler: handler as Route['handler'],
  }));

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor | null;
    /** True while the handler runs, even if the caller has left. */
    isHandled: boolean;
    /** A page of another origin sent it, to an operation that lets such pages call. */
    isCrossOrigin: boolean;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    /** The header WWW-Authenticate of a 401. */
    challenge?: string;
    /** The route is called very often, by monitoring tools, so its requests are logged at a lower level. */
    isProbe?: true;
    /** The path does not accept this method; see `refuseMethods`. */
    isRefused?: true;
    /** Answers what browsers ask before a request of another origin. */
    isPreflight?: true;
  }
}

export interface RouteOptions {
  db: Database;
  authenticator: Authenticator;
  attempts: RefusalAudit;
  atOnce: EmbedAdmission;
  /** Counts streams of events apart from other requests, because each page that is open has one. */
  listening: EmbedAdmission;
  /** Throws or rejects if there is no such deployment. Returns undefined, not a promise, if it is known to exist. */
  requireDeployment: (id: number) => undefined | Promise<void>;
  cursors: Cursors;
  csrf: Csrf;
  allowedOrigins: AllowedOrigins;
  onChange?: OnChange | undefined;
  log: Logger;
  /** How often the caller of a stream is checked again. */
  recheckMs?: number;
}

export function registerRoutes(app: FastifyInstance, routes: readonly Route[], options: RouteOptions) {
  app.decorateRequest('actor', null);
  app.decorateRequest('isHandled', false);
  app.decorateRequest('isCrossOrigin', false);
  const collections = collectionPaths(routes.map(({ operation }) => operation));
  const stopping = new AbortController();
  // Each stream of events adds a listener, so there is no limit.
  setMaxListeners(0, stopping.signal);
  app.addHook('preClose', (done) => {
    stopping.abort();
    done();
  });
  const operations = routes.map(({ operation }) => operation);
  const crossOrigin = createCrossOrigin(options);
  const compress = createCompression();
  const inPages = methodsByPath(operations.filter((op) => op.crossOrigin));
  for (const area of AREAS) inPages.set(`${area}*`, ['GET', 'HEAD', 'POST']);
  crossOrigin.answerPreflights(app, inPages);
  for (const route of routes) {
    const isCollection = collections.has(route.operation.path);
    register(app, route, { ...options, crossOrigin, compress, stopping: stopping.signal }, isCollection);
  }
  refuseMethods(app, operations, crossOrigin);
}

function methodsByPath(operations: readonly Operation[]): Map<string, string[]> {
  const paths = new Map<string, string[]>();
  for (const op of operations) {
    const methods = op.method === 'GET' && !isStreamed(op) ? ['GET', 'HEAD'] : [op.method];
    paths.set(urlOf(op), [...(paths.get(urlOf(op)) ?? []), ...methods]);
  }
  return paths;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Registers routes that only refuse. Without them, `PUT /users/me` would be a 400, because `me` is not an id, instead
 * of a 405, and a page of another origin could not read why a request beside the operations that it may call was
 * refused.
 */
function refuseMethods(app: FastifyInstance, operations: readonly Operation[], crossOrigin: CrossOrigin) {
  const paths = methodsByPath(operations);
  const served = [...paths].map(([url, methods]) => ({ url, methods }));
  const readable = [
    ...operations.filter((op) => op.crossOrigin).map(urlOf),
    ...AREAS.map((area) => `${area}*`),
  ];
  const refused = new Map(methodsToRefuse(served).map(({ url, methods }) => [url, methods]));
  for (const url of readable)
    refused.set(
      url,
      METHODS.filter((method) => !paths.get(url)?.includes(method)),
    );
  // Operations that pages of other origins may not call refuse preflights, also in these areas.
  for (const url of paths.keys())
    if (!readable.includes(url) && AREAS.some((area) => url.startsWith(area)))
      refused.set(url, [...(refused.get(url) ?? []), 'OPTIONS']);
  for (const [url, methods] of refused) {
    const isReadable = readable.includes(url);
    app.route({
      method: [...methods],
      url,
      config: { isRefused: true },
      exposeHeadRoute: false,
      onRequest: async (request, reply) => {
        if (isReadable) await crossOrigin.greet(request, reply);
        return reply.callNotFound();
      },
      handler: (_request, reply) => reply.callNotFound(),
    });
  }
}

function register(
  app: FastifyInstance,
  { operation: op, handler }: Route,
  options: RouteOptions & { stopping: AbortSignal; crossOrigin: CrossOrigin; compress: Compressor },
  isCollection: boolean,
) {
  const { db, authenticator, attempts, requireDeployment, cursors, csrf, onChange, log } = options;
  const atOnce = replyKindOf(op)?.kind === 'eventStream' ? options.listening : options.atOnce;
  const validators = compileValidators(op);
  const limitRate = op.rate && createRateLimit(op.rate);
  const prepare = preparerOf(op, options);
  const usualStatus = successStatus(op);
  const orNothing = mayAnswerNothing(op);
  const audited = isAudited(op);
  const paramNames = Object.keys(op.params);
  const inDeployment = isDeploymentOperation(op);
  const mayBeKnown = answersNotModified(op);
  const sendsHeaders = Object.keys(op.replyHeaders).length > 0;
  const form = guardForm(op, csrf);
  const callOptions = { operation: op, db, cursors, onChange, log };
  const takesUploads = ['multipart', 'bytes'].includes(bodyKindOf(op)?.kind ?? '');

  const left = new WeakSet<FastifyRequest>();

  /** Called when the reply is sent and the handler has ended, because a handler goes on after its caller has left. */
  const finish = (request: FastifyRequest) => {
    const embed = embedOf(request.actor!);
    if (embed && !left.has(request)) atOnce.leave(embed);
    left.add(request);
    if (takesUploads) freeUploads(request).catch((err) => log.error({ err, requestId: request.id }));
  };

  const identify = (request: FastifyRequest, actor: Actor) => {
    request.actor = actor;
    request.params = validators.params(request.params);
  };

  /** Makes every check that does not need the body. */
  const admit = (request: FastifyRequest, reply: FastifyReply, actor: Actor) => {
    identify(request, actor);
    form?.requireOrigin(request.headers);
    authorize(op, actor, request.params as ParamsOf<Operation>);
    limitRate?.(actor, request.ip);
    const embed = embedOf(actor);
    if (!embed && !takesUploads) return;
    if (reply.raw.closed) throw new ApiError('invalid_request', { message: 'The caller has left.' });
    if (embed) atOnce.enter(embed);
    reply.raw.once('close', () => request.isHandled || finish(request));
  };

  /** Returns the error for a caller who is not admitted. If they are known, `recordRefusal` needs to know them too. */
  const refuse = (request: FastifyRequest, error: Error): Error => {
    try {
      if (error instanceof RefusedCallerError) identify(request, error.actor);
      return error;
    } catch (invalid) {
      return invalid as Error;
    }
  };

  /**
   * Runs before the body is read, so that we do not store and parse megabytes for a caller who is unknown or not
   * allowed.
   */
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    // The router matches `/things/` as `/things/{id}` with an empty id.
    if (paramNames.some((name) => (request.params as Record<string, string>)[name] === '')) {
      return reply.callNotFound();
    }
    if (!op.crossOrigin) return identifyCaller(request, reply, done);
    let greeted: undefined | Promise<undefined>;
    try {
      greeted = options.crossOrigin.greet(request, reply);
    } catch (error) {
      return done(error as Error);
    }
    if (greeted) greeted.then(() => identifyCaller(request, reply, done), done);
    else identifyCaller(request, reply, done);
  };

  const identifyCaller = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    let actor: Actor | Promise<Actor>;
    try {
      actor = authenticator.authenticate(request, op);
    } catch (error) {
      return done(refuse(request, error as Error));
    }
    const proceed = (known: Actor) => {
      try {
        admit(request, reply, known);
      } catch (error) {
        return done(error as Error);
      }
      done();
    };
    if (actor instanceof Promise) actor.then(proceed, (error) => done(refuse(request, error)));
    else proceed(actor);
  };

  /** Records a 403 in the audit log, wherever it came from, if the caller is known. */
  const recordRefusal = (request: FastifyRequest, _reply: FastifyReply, error: Error, done: () => void) => {
    const { actor } = request;
    if (error instanceof ApiError && error.statusCode === 403 && actor) {
      attempts.record({
        operation: op.id,
        resourceType: 'refusal',
        resourceId: request.url.split('?', 1)[0]!,
        deploymentId: (request.params as { deploymentId?: number }).deploymentId,
        embedTenantName: embedOf(actor)?.embedTenant,
        ...identityOf(actor),
        ip: request.ip,
        requestId: request.id,
        details: {
          code: error.code,
          ...(error instanceof RefusedCallerError ? { isFromOurPage: false } : {}),
        },
      });
    }
    done();
  };

  /** Throws or rejects if the caller would not be admitted any more. */
  const mayStill = async (request: FastifyRequest) =>
    authorize(op, await authenticator.authenticate(request, op), request.params as ParamsOf<Operation>);

  const inputOf = (request: FastifyRequest): Input<Operation> => ({
    params: request.params as ParamsOf<Operation>,
    query: validators.query(request.query),
    headers: validators.headers(request.headers),
    body: validators.body(
      request.body,
      Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY),
    ) as BodyOf<Operation>,
  });

  /** Returns the reply, and does not send it, because the time may be over when it is ready. */
  const answer = async (call: RequestCall, input: Input<Operation>): Promise<PreparedReply> => {
    const answered = await handler(call, input);
    const prepared = await prepare(
      (audited ? (answered as CommittedReply<unknown>).reply : answered) as never,
    );
    if (!sendsHeaders || prepared.status) return prepared;
    validators.replyHeaders(call.headers);
    return { ...prepared, headers: { ...prepared.headers, ...call.headers } };
  };

  const run = async (
    request: FastifyRequest,
    reply: FastifyReply,
    onWork?: (work: Promise<unknown>) => void,
  ) => {
    const input = inputOf(request);
    form?.requireToken(request.actor!, input.body);
    if (inDeployment) await requireDeployment(input.params.deploymentId as number);
    const call = new RequestCall(callOptions, request, reply, input);
    if (op.timeoutMs !== undefined) allowSilence(request, reply, op.timeoutMs);
    const work = answer(call, input);
    onWork?.(work);
    const {
      headers,
      payload,
      status = usualStatus,
    } = await (op.timeoutMs === undefined
      ? work
      : call.lifetime.within(work, ({ payload }) => discard(payload)));
    if (mayBeKnown && isKnown(request, reply)) {
      varyByEncoding(reply);
      return reply.code(304).send();
    }
    reply.code(orNothing && payload === undefined ? 204 : status);
    if (headers) reply.headers(headers);
    if (payload instanceof Readable) {
      reportCut(payload, log, request);
      // The whole reply is there, so nothing but the caller can be slow.
      if (headers?.['content-length']) request.raw.socket.setTimeout(request.server.server.timeout);
      if (op.auth !== 'public') recheck(reply.raw, () => mayStill(request), options.recheckMs);
    }
    // The caller left while the first piece was made, so nobody reads the stream.
    if (payload instanceof Readable && reply.raw.closed) payload.destroy();
    return status >= 300 ? reply.send() : payload;
  };

  /** Counts the request and keeps its uploads until the handler has ended, even if the caller has left or got a 504. */
  const runCounted = async (request: FastifyRequest, reply: FastifyReply) => {
    request.isHandled = true;
    let handling: Promise<unknown> = Promise.resolve();
    const end = () => {
      request.isHandled = false;
      if (reply.raw.closed) finish(request);
    };
    try {
      return await run(request, reply, (work) => {
        handling = work;
      });
    } finally {
      handling.then(end, end);
    }
  };

  const onSend: onSendHookHandler = (request, reply, payload, done) => {
    const sent = options.compress(request, reply, payload);
    if (sent instanceof Promise) sent.then((bytes) => done(null, bytes), done);
    else done(null, sent);
  };

  const path = urlOf(op);
  for (const url of isCollection ? [path, `${path}/`] : [path]) {
    app.route({
      method: op.method,
      url,
      config: { operation: op, challenge: authenticator.challengeOf(op) },
      ...jsonSchemaOf(op),
      ...(isStreamed(op) ? { exposeHeadRoute: false } : {}),
      onRequest,
      ...(isCompressible(op) ? { onSend } : {}),
      ...(isForAdmins(op) ? { onError: recordRefusal } : {}),
      handler: (request, reply) =>
        takesUploads || embedOf(request.actor!) ? runCounted(request, reply) : run(request, reply),
    });
  }
}

/** The path in the form that the router takes. */
const urlOf = (op: Operation) => op.path.replaceAll(/\{(\w+)\}/g, ':$1');

/** The framework serialises only JSON. Every other reply is already text or bytes. */
function jsonSchemaOf(op: Operation) {
  const reply = replyKindOf(op);
  if (reply?.kind !== 'json') return {};
  const { schema } = reply;
  return {
    schema: { response: { [successStatus(op)]: schema } },
    serializerCompiler: () => serializerOf(schema),
  };
}

/** Idle connections are closed, but not while a handler runs that may take longer than the idle limit. */
function allowSilence({ raw: { socket }, server }: FastifyRequest, reply: FastifyReply, timeoutMs: number) {
  const { timeout: idleMs } = server.server;
  if (timeoutMs < idleMs) return;
  socket.setTimeout(timeoutMs + idleMs);
  reply.raw.once('close', () => socket.setTimeout(idleMs));
}
