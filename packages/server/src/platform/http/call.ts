/** What a handler gets beside its input. Each part is made when the handler asks for it, because most ask for few. */
import type { Operation } from '@oriel/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type ChangeFunction, changeFunction, type OnChange } from '../audit/change.ts';
import { type Actor, embedOf, sharerOf } from '../auth/actor.ts';
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import { siteOf } from './attempt-limit.ts';
import { type Etag, etagOf } from './etag.ts';
import { createLifetime, type Lifetime } from './lifetime.ts';
import { type Cursors, scopeCursors } from './pages.ts';

/** Which request it is and where it came from, for the audit log, for limits and for lists of sessions. */
export interface CallOrigin {
  /** The id of the operation. */
  operation: string;
  ip: string;
  requestId: string;
  /** The program of the caller, as far as it tells. A long text is cut. */
  userAgent?: string | undefined;
}

const USER_AGENT_MAX = 255;

export interface Call<Who extends Actor = Actor> {
  readonly actor: Who;
  readonly db: Database;
  readonly origin: CallOrigin;
  /** For a resource that is read and then changed. */
  readonly etag: Etag;
  /**
   * For a list in a deployment: cursors that are valid only for that deployment and for the embed tenant in which the
   * list is viewed.
   */
  readonly cursors: Cursors;
  /** Aborted when the caller leaves, or when the time of the operation is over. */
  readonly signal: AbortSignal;
}

export interface CallOptions {
  operation: Operation;
  db: Database;
  cursors: Cursors;
  onChange?: OnChange | undefined;
  log: Logger;
}

interface Values {
  params: unknown;
  query: unknown;
}

const NO_HEADERS: Record<string, string | string[]> = {};

export class RequestCall implements Call {
  readonly actor: Actor;
  /** The headers that the handler sends. */
  headers = NO_HEADERS;
  readonly #options: CallOptions;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;
  readonly #values: Values;
  #lifetime: Lifetime | undefined;

  constructor(options: CallOptions, request: FastifyRequest, reply: FastifyReply, values: Values) {
    this.actor = request.actor!;
    this.#options = options;
    this.#request = request;
    this.#reply = reply;
    this.#values = values;
  }

  get db(): Database {
    const { db } = this.#options;
    return db.as(this.actor.kind === 'nobody' ? siteOf(this.#request.ip) : sharerOf(this.actor));
  }

  get origin(): CallOrigin {
    const { ip, id, headers } = this.#request;
    const userAgent = headers['user-agent']?.slice(0, USER_AGENT_MAX);
    return { operation: this.#options.operation.id, ip, requestId: id, userAgent };
  }

  get etag(): Etag {
    return etagOf(this.#options.operation, this.#request, this.#reply);
  }

  get cursors(): Cursors {
    const { cursors } = this.#options;
    const { deploymentId } = this;
    return deploymentId === null ? cursors : scopeCursors(cursors, deploymentId, this.embedTenantName);
  }

  get signal(): AbortSignal {
    return this.lifetime.signal;
  }

  get change(): ChangeFunction {
    const { operation, ip, requestId } = this.origin;
    const { actor, deploymentId, embedTenantName } = this;
    const resourceType = this.#options.operation.audit;
    const about = { operation, resourceType, actor, deploymentId, embedTenantName, ip, requestId };
    const { onChange } = this.#options;
    return changeFunction(this.db, about, { attempt: this.lifetime.attempt, onChange });
  }

  /** A function that can be called without its object, because handlers take the call apart. */
  get sendHeaders() {
    return (headers: Record<string, string | string[]>) => {
      this.headers = headers;
    };
  }

  get lifetime(): Lifetime {
    const { operation, log } = this.#options;
    this.#lifetime ??= createLifetime({
      response: this.#reply.raw,
      timeoutMs: operation.timeoutMs,
      onLate: (err) =>
        log.error(
          { requestId: this.#request.id, operation: operation.id, err },
          'a handler failed after its time limit',
        ),
    });
    return this.#lifetime;
  }

  get deploymentId(): number | null {
    return (this.#values.params as { deploymentId?: number }).deploymentId ?? null;
  }

  /** The embed tenant that the caller or the request is about. */
  get embedTenantName(): string | null {
    const { params, query } = this.#values as Record<'params' | 'query', { embedTenantName?: string | null }>;
    return embedOf(this.actor)?.embedTenant ?? params.embedTenantName ?? query.embedTenantName ?? null;
  }
}
