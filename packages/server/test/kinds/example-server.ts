/** A real server with the example operations, and the real client for them. Every reply is checked. */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ErrorCode, Operation, Upload } from '@oriel/contract';
import { clientRoutesOf } from '../../../../scripts/generated-files.ts';
import { type ClientOf, createClientFor } from '../../../client/src/client.ts';
import { createRefusalAudit } from '../../src/platform/audit/events.ts';
import type { Person } from '../../src/platform/auth/actor.ts';
import { createAuthenticator } from '../../src/platform/auth/authenticate.ts';
import type { CredentialKind } from '../../src/platform/auth/credentials.ts';
import { createCsrf } from '../../src/platform/auth/csrf.ts';
import { ApiError } from '../../src/platform/errors.ts';
import { createEmbedAdmission } from '../../src/platform/http/embed-admission.ts';
import { createMetrics } from '../../src/platform/http/metrics.ts';
import type { Cursors } from '../../src/platform/http/pages.ts';
import { handle, handleEach, type Route, registerRoutes } from '../../src/platform/http/routes.ts';
import { createHttpServer, type Timeouts } from '../../src/platform/http/server.ts';
import { createCheckedFetch } from '../checked-fetch.ts';
import { createServerLog } from '../server-log.ts';
import { createWorld } from '../world.ts';
import { type Example, example } from './example-contract.ts';

export const KEYS = { all: 'all', scoped: 'scoped', other: 'other' } as const;

/** Records what handlers received, for tests. */
export interface HandlerLog {
  /** The number of pieces that streams made. */
  made: number;
  /** Whether the signal of the last stream's handler was aborted. */
  isAborted: boolean;
  /** The reason why the signal of the last slow handler was aborted. */
  abortReason: unknown;
  isReturned: boolean;
  handled: string[];
}

const actor = (apiKeyId: number): Person => ({
  kind: 'person',
  userId: 1,
  apiKeyId,
  sessionId: null,
  deploymentIds: null,
  actions: new Set(['All']),
  deploymentActions: new Map(),
});
const ACTORS: Record<string, Person> = { all: actor(1), other: actor(2) };

/** What a test can do to the credentials of its server. */
interface Credentials {
  /** Refuses every credential with this error. */
  refusal?: ErrorCode;
  checks: number;
}

const exampleKeys = (credentials: Credentials): CredentialKind => ({
  name: 'example key',
  auths: ['management', 'apiKey', 'query'],
  schemes: ['api-key'],
  takes: () => true,
  verify({ secret }) {
    credentials.checks++;
    if (credentials.refusal) throw new ApiError(credentials.refusal);
    const known = ACTORS[secret];
    if (!known) throw new ApiError('unauthenticated');
    return known;
  },
  example: { secret: 'x' },
  howToSend: 'an example key',
});

const describe = async ({ fileName, contentType, size, stream }: Upload) => {
  const hash = createHash('sha256');
  for await (const chunk of stream()) hash.update(chunk);
  return { fileName, contentType, size, sha256: hash.digest('hex') };
};

function exampleRoutes(seen: HandlerLog): Route[] {
  async function* pieces<T>(
    { rows = 3, failAfter }: { rows?: number; failAfter?: number },
    signal: AbortSignal,
    make: (id: number) => T,
  ) {
    seen.isReturned = false;
    seen.isAborted = signal.aborted;
    signal.addEventListener('abort', () => (seen.isAborted = true));
    try {
      for (let id = 0; id < rows; id++) {
        if (id === failAfter) throw id === 0 ? new ApiError('role_not_found') : new Error('broke half-way');
        seen.made++;
        yield make(id);
      }
    } finally {
      seen.isReturned = true;
    }
  }
  const named = (id: number) => ({ id, name: `row ${id}`, hidden: 'not in the contract' });
  const fail = (_call: unknown, { query }: { query: { code: string } }): never => {
    if (query.code === 'crash') throw new Error('a secret of the server');
    throw new ApiError(query.code as ErrorCode);
  };

  return [
    ...handleEach([example.getMeta, example.getData], ({ actor }) => actor),
    handle(example.postForm, (_, { body }) => body),
    handle(example.postFormOrJson, (_, { body }) => body),
    handle(example.postScim, (_, { body }) => body),
    handle(example.getOfFamily, () => undefined),
    handle(example.postToFamily, () => undefined),
    handle(example.postFiles, async (_, { body: { fields, files } }) => {
      seen.handled.push('postFiles');
      return { fields, files: await Promise.all(files.files.map(describe)), logos: files.logo.length };
    }),
    handle(example.postBytes, (_, { body }) => describe(body)),
    handle(example.getRows, ({ signal }, { query }) => pieces(query, signal, named)),
    handle(example.getTable, ({ signal }, { query }) => ({
      columns: ['id', 'a "name"', 'note'],
      rows: pieces(query, signal, (id) => [id, `row, ${id}`, id ? null : ''] as const),
    })),
    handle(example.getPage, () => '<!doctype html><title>ä</title>'),
    handle(example.getEvents, async function* ({ signal }, { query: { failAfter } }) {
      seen.isAborted = false;
      signal.addEventListener('abort', () => (seen.isAborted = true));
      for (let done = 1; ; done++) {
        if (done === failAfter) throw new Error('broke half-way');
        yield { event: 'progress', data: { done }, id: String(done) };
        if (done === 3) yield { event: 'finished', data: { text: 'a\nb' } };
        if (done >= 3) await sleep(60_000, undefined, { signal });
      }
    }),
    handle(example.getElsewhere, (_, { query }) => {
      if (query.to === 'nowhere') throw new ApiError('role_not_found');
      return { location: query.to };
    }),
    handle(example.getContent, ({ signal }, { query }) => {
      if (query.rows === undefined) return { contentType: 'image/png', data: new Uint8Array([1, 2, 3]) };
      return {
        contentType: 'application/octet-stream',
        data: pieces(query, signal, () => new Uint8Array(64 * 1024)),
      };
    }),
    handle(example.getWithHeaders, ({ sendHeaders }, { headers }) => {
      if (headers['x-branch'] !== 'forgotten') sendHeaders({ 'x-branch-of': headers['x-branch'] });
      return { branch: headers['x-branch'], depth: headers['x-depth'] };
    }),
    ...handleEach([example.putThing, example.putThingByPost], (_, { params, body }) => ({
      ...params,
      ...body,
    })),
    handle(example.getRarely, () => undefined),
    handle(example.postRarely, () => undefined),
    handle(example.getSlowly, async ({ signal }, { query }) => {
      signal.addEventListener('abort', () => (seen.abortReason = signal.reason));
      await sleep(query.ms);
      return undefined;
    }),
    handle(example.changeSlowly, ({ change }, { query }) =>
      change(async () => {
        await sleep(query.ms);
        return { reply: undefined, changes: { id: query.ms, before: null, after: { ms: query.ms } } };
      }),
    ),
    handle(example.failStandard, fail),
    handle(example.failOauth, fail),
    handle(example.failScim, fail),
    handle(example.failMessage, fail),
  ];
}

export interface ExampleServer {
  url: string;
  client: ClientOf<Example>;
  seen: HandlerLog;
  credentials: Credentials;
  /** A request that no client would send. */
  raw(method: string, path: string, init?: RequestInit & { key?: string | null }): Promise<Response>;
  /** The ids of the resources in the audit log. */
  auditedIds(): Promise<string[]>;
  close(): Promise<void>;
  stop(): Promise<void>;
}

export async function startExample({
  recheckMs,
  kinds = [],
  ...options
}: {
  timeouts?: Timeouts;
  recheckMs?: number;
  /** Further kinds of credentials that the server accepts. */
  kinds?: CredentialKind[];
} = {}): Promise<ExampleServer> {
  const world = await createWorld();
  const log = createServerLog();
  const seen: HandlerLog = {
    made: 0,
    isAborted: false,
    abortReason: undefined,
    isReturned: false,
    handled: [],
  };
  const credentials: Credentials = { checks: 0 };
  const app = createHttpServer({ log, metrics: createMetrics(), ...options });
  registerRoutes(app, exampleRoutes(seen), {
    db: world.server.db,
    attempts: createRefusalAudit(world.server.db, log),
    authenticator: createAuthenticator([exampleKeys(credentials), ...kinds]),
    atOnce: createEmbedAdmission({ perEmbedToken: 10, perEmbedTenant: 10 }),
    listening: createEmbedAdmission({ perEmbedToken: 10, perEmbedTenant: 10 }),
    requireDeployment: () => undefined,
    cursors: {} as Cursors,
    csrf: createCsrf([Buffer.alloc(32)], 'http://127.0.0.1'),
    allowedOrigins: () => [],
    log,
    recheckMs,
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const operations = Object.values(example) as unknown as Operation[];
  const checked = createCheckedFetch(operations);
  const client = createClientFor<Example>(clientRoutesOf(operations), {
    baseUrl: url,
    apiKey: 'all',
    fetch: checked,
    retries: 0,
  });
  return {
    url,
    client,
    seen,
    credentials,
    raw(method, path, { key = 'all', headers, ...init } = {}) {
      const all = new Headers(headers);
      if (key !== null) all.set('authorization', `Api-Key ${key}`);
      return checked(url + path, { method, headers: all, redirect: 'manual', ...init });
    },
    auditedIds: async () => {
      const rows = await world.server.db.pool.query(
        "select resource_id as id from audit_log where resource_type = 'example'",
      );
      return rows.rows.map(({ id }) => id);
    },
    close: () => app.close(),
    async stop() {
      await app.close();
      await world.stop();
    },
  };
}
