/** Binds handlers to operations of the contract: what a handler receives is already checked. */
import {
  type BodyOf,
  collectionPaths,
  isAudited,
  isDeploymentOperation,
  type Operation,
  type ParamsOf,
  type QueryOf,
  type ReplyOf,
  successStatus,
} from '@oriel/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ChangeFunction, type Committed, changeFunction } from '../audit/change.ts';
import { authorize } from '../auth/access.ts';
import { type Actor, type CallerOf, type EmbedSession, embedOf, sharerOf } from '../auth/actor.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Database } from '../db/database.ts';
import { ApiError } from '../errors.ts';
import type { AtOnce } from './at-once.ts';
import { type Etag, etagOf } from './etag.ts';
import { type Cursors, scopeCursors } from './pages.ts';
import { serializerOf } from './serializer.ts';
import { compileValidators } from './validation.ts';

export interface Input<O extends Operation> {
  params: ParamsOf<O>;
  query: QueryOf<O>;
  body: BodyOf<O>;
}

export interface Call<Who extends Actor = Actor> {
  actor: Who;
  db: Database;
  /** Where the request came from, for the audit log and for limits. */
  origin: { ip: string; requestId: string };
  /** For a resource that is read and then changed. */
  etag: Etag;
  /** For a list in a deployment: cursors of that deployment, and of the embed tenant that it is looked at in. */
  cursors: Cursors;
}

/** An operation that changes something must answer with what `change` returns; see audit/change.ts. */
export type Handler<O extends Operation> = O['audit'] extends 'none'
  ? (call: Call<CallerOf<O>>, input: Input<O>) => Promise<ReplyOf<O>> | ReplyOf<O>
  : (call: Call<CallerOf<O>> & { change: ChangeFunction }, input: Input<O>) => Promise<Committed<ReplyOf<O>>>;

export interface Route {
  operation: Operation;
  handler: (call: Call & { change?: ChangeFunction }, input: Input<Operation>) => unknown;
}

export const handle = <O extends Operation>(operation: O, handler: Handler<NoInfer<O>>): Route => ({
  operation,
  handler: handler as Route['handler'],
});

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor | null;
    /** While the handler is at work, also for a caller who has left. */
    isHandled: boolean;
  }
  interface FastifyContextConfig {
    operation?: Operation;
    /** Asked all the time, by machines. */
    isProbe?: true;
  }
}

export interface RouteOptions {
  db: Database;
  authenticator: Authenticator;
  atOnce: AtOnce;
  /** Throws or rejects where there is no such deployment; answers nothing where it is known to be there. */
  requireDeployment: (id: number) => undefined | Promise<void>;
  cursors: Cursors;
}

export function registerRoutes(app: FastifyInstance, routes: readonly Route[], options: RouteOptions) {
  app.decorateRequest('actor', null);
  app.decorateRequest('isHandled', false);
  const collections = collectionPaths(routes.map(({ operation }) => operation));
  for (const route of routes) register(app, route, options, collections.has(route.operation.path));
}

function register(
  app: FastifyInstance,
  { operation: op, handler }: Route,
  { db, authenticator, atOnce, requireDeployment, cursors: allCursors }: RouteOptions,
  isCollection: boolean,
) {
  const validators = compileValidators(op);
  const status = successStatus(op);
  const audited = isAudited(op);
  const paramNames = Object.keys(op.params);
  const inDeployment = isDeploymentOperation(op);

  /** All that can be decided without the body. */
  const admit = (request: FastifyRequest, reply: FastifyReply, actor: Actor) => {
    request.actor = actor;
    const params = validators.params(request.params);
    authorize(op, actor, params);
    request.params = params;
    const embed = embedOf(actor);
    if (!embed) return;
    if (reply.raw.closed) throw new ApiError('invalid_request', { message: 'The caller has left.' });
    atOnce.enter(embed);
    reply.raw.once('close', () => request.isHandled || atOnce.leave(embed));
  };

  /** Before the body is read: nobody unknown or not allowed makes us hold and parse megabytes. */
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    // The router takes `/things/` for `/things/{id}` with nothing in it.
    if (paramNames.some((name) => (request.params as Record<string, string>)[name] === '')) {
      return reply.callNotFound();
    }
    let actor: Actor | Promise<Actor>;
    try {
      actor = authenticator.authenticate(request, op.auth);
    } catch (error) {
      return done(error as Error);
    }
    const proceed = (known: Actor) => {
      try {
        admit(request, reply, known);
      } catch (error) {
        return done(error as Error);
      }
      done();
    };
    if (actor instanceof Promise) actor.then(proceed, done);
    else proceed(actor);
  };

  const run = async (request: FastifyRequest, reply: FastifyReply) => {
    const actor = request.actor!;
    const params = request.params as ParamsOf<Operation>;
    const query = validators.query(request.query);
    const body = validators.body(
      request.body,
      Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY),
    );
    if (inDeployment) await requireDeployment(params.deploymentId as number);
    const input = { params, query, body } as Input<Operation>;
    reply.code(status);
    const etag = etagOf(request, reply);
    const origin = { ip: request.ip, requestId: request.id };
    const embedTenant = embedOf(actor)?.embedTenant ?? (query.embedTenantName as string | undefined) ?? null;
    const cursors = inDeployment
      ? scopeCursors(allCursors, params.deploymentId as number, embedTenant)
      : allCursors;
    const shared = actor.kind === 'nobody' ? db : db.as(sharerOf(actor));
    const call = { actor, db: shared, origin, etag, cursors };
    if (!audited) return handler(call, input);
    const change = changeFunction(shared, {
      operation: op.id,
      resourceType: op.audit,
      actor,
      deploymentId: (params.deploymentId as number | undefined) ?? null,
      ...origin,
    });
    return ((await handler({ ...call, change }, input)) as Committed<unknown>).reply;
  };

  /** A caller who leaves does not end what they began, and so does not make room for more. */
  const runCounted = async (request: FastifyRequest, reply: FastifyReply, embed: EmbedSession) => {
    request.isHandled = true;
    try {
      return await run(request, reply);
    } finally {
      request.isHandled = false;
      if (reply.raw.closed) atOnce.leave(embed);
    }
  };

  const path = op.path.replaceAll(/\{(\w+)\}/g, ':$1');
  for (const url of isCollection ? [path, `${path}/`] : [path]) {
    app.route({
      method: op.method,
      url,
      config: { operation: op },
      schema: status === 204 ? {} : { response: { 200: op.reply } },
      serializerCompiler: () => serializerOf(op.reply),
      onRequest,
      handler: (request, reply) => {
        const embed = embedOf(request.actor!);
        return embed ? runCounted(request, reply, embed) : run(request, reply);
      },
    });
  }
}
