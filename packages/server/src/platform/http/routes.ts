/** Binds handlers to operations of the contract: what a handler receives is already checked. */
import {
  type BodyOf,
  isAudited,
  type Operation,
  type ParamsOf,
  type QueryOf,
  type ReplyOf,
  successStatus,
} from '@oriel/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type ChangeFunction, type Committed, changeFunction } from '../audit/change.ts';
import { authorize } from '../auth/access.ts';
import type { Actor } from '../auth/actor.ts';
import type { Authenticator } from '../auth/authenticate.ts';
import type { Database } from '../db/database.ts';
import { compileValidators } from './validation.ts';

export interface Input<O extends Operation> {
  params: ParamsOf<O>;
  query: QueryOf<O>;
  body: BodyOf<O>;
}

interface Call {
  actor: Actor;
  db: Database;
}

/** An operation that changes something must answer with what `change` returns; see audit/change.ts. */
export type Handler<O extends Operation> = O['audit'] extends 'none'
  ? (call: Call, input: Input<O>) => Promise<ReplyOf<O>> | ReplyOf<O>
  : (call: Call & { change: ChangeFunction }, input: Input<O>) => Promise<Committed<ReplyOf<O>>>;

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
  }
  interface FastifyContextConfig {
    operation?: Operation;
  }
}

export function registerRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  { db, authenticator }: { db: Database; authenticator: Authenticator },
) {
  app.decorateRequest('actor', null);
  for (const route of routes) register(app, route, db, authenticator);
}

function register(
  app: FastifyInstance,
  { operation: op, handler }: Route,
  db: Database,
  authenticator: Authenticator,
) {
  const validators = compileValidators(op);
  const status = successStatus(op);
  const audited = isAudited(op);
  const paramNames = Object.keys(op.params);

  /** Before the body is read: nobody unknown makes us parse megabytes. */
  const onRequest = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void) => {
    // The router takes `/things/` for `/things/{id}` with nothing in it.
    if (paramNames.some((name) => (request.params as Record<string, string>)[name] === '')) {
      return reply.callNotFound();
    }
    let actor: Actor | Promise<Actor>;
    try {
      actor = authenticator.authenticate(request.headers.authorization, op.auth);
    } catch (error) {
      return done(error as Error);
    }
    const proceed = (known: Actor) => {
      request.actor = known;
      done();
    };
    if (actor instanceof Promise) actor.then(proceed, done);
    else proceed(actor);
  };

  const run = async (request: FastifyRequest, reply: FastifyReply) => {
    const actor = request.actor!;
    const params = validators.params(request.params);
    const query = validators.query(request.query);
    const body = validators.body(
      request.body,
      Number(request.headers['content-length'] ?? Number.POSITIVE_INFINITY),
    );
    authorize(op, actor, params);
    const input = { params, query, body } as Input<Operation>;
    reply.code(status);
    if (!audited) return handler({ actor, db }, input);
    const change = changeFunction(db, {
      operation: op.id,
      resourceType: op.audit,
      actor,
      deploymentId: (params.deploymentId as number | undefined) ?? null,
      ip: request.ip,
      requestId: request.id,
    });
    return ((await handler({ actor, db, change }, input)) as Committed<unknown>).reply;
  };

  const path = op.path.replaceAll(/\{(\w+)\}/g, ':$1');
  for (const url of op.trailingSlash ? [path, `${path}/`] : [path]) {
    app.route({
      method: op.method,
      url,
      config: { operation: op },
      schema: status === 204 ? {} : { response: { 200: op.reply } },
      onRequest,
      handler: run,
    });
  }
}
