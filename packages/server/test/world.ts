/** A running server with its database, and the people in it. Every reply is checked against the contract. */
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createOrielClient, type OrielClient } from '@oriel/client';
import { inject } from 'vitest';
import { readConfig } from '../src/config.ts';
import { engineUser, makeFilesDir } from '../src/engines/engine-user.ts';
import type { Timeouts } from '../src/platform/http/server.ts';
import type { Logger } from '../src/platform/log.ts';
import { type RunningServer, startServer } from '../src/start-server.ts';
import { requireNoSecrets } from './audited-secrets.ts';
import { checkedFetch } from './checked-fetch.ts';
import { createDatabase, dropDatabase, onServer } from './databases.ts';
import { createServerLog } from './server-log.ts';

export const ADMIN_KEY = 'sk-test-admin-key-of-this-whole-world';
export const ADMIN_PASSWORD = 'the pass phrase of the first admin';
export const SECRET_KEY = 'J4uXwq0Zb1mYt7cVh2sKd9fLr6gNp3aE';

export interface World {
  url: string;
  databaseUrl: string;
  server: RunningServer;
  /** The first admin. */
  admin: OrielClient;
  /** A client of the world's server with another key, or without one. */
  client(apiKey?: string): OrielClient;
  /** A client with the access token of a person. */
  bearer(token: string): OrielClient;
  /** A request that no client would send. */
  raw(method: string, path: string, init?: RequestInit & { apiKey?: string | null }): Promise<Response>;
  /** A user with these roles, and a client with a key of theirs. */
  person(options?: { roles?: string[]; deploymentIds?: number[] }): Promise<Person>;
  /** A deployment that no other test uses. */
  deployment(name?: string): Promise<{ id: number; name: string }>;
  /** Writes files that the queries of a deployment read as tables: `orders.csv` is `files.orders`. */
  writeFiles(deploymentId: number, files: Record<string, string | Uint8Array>): Promise<void>;
  /** Mints a session for an external viewer or an internal user, and exchanges it as the embedded page does. */
  embedded(request: SessionRequest): Promise<EmbeddedSession>;
  /** A second server on the same database, with the same settings except for these. */
  anotherServer(env?: Record<string, string>): Promise<RunningServer>;
  /** Stops what this file started. The shared server and its database keep running for the other files. */
  stop(): Promise<void>;
}

type SessionRequest = Parameters<OrielClient['generateSession']>[0]['body'];

export interface EmbeddedSession {
  sessionId: string;
  token: string;
  client: OrielClient;
}

export interface Person {
  userId: number;
  apiKey: string;
  apiKeyId: number;
  client: OrielClient;
}

let counter = 0;
/** A name that no other test uses. */
export const unique = (prefix: string) => `${prefix}-${process.pid}-${++counter}`;

interface WorldOptions {
  log?: Logger;
  env?: Record<string, string>;
  timeouts?: Timeouts;
  /** Wait for locks and connections as long as in production. Other tests wait longer, for busy machines. */
  hasProductionWaits?: true;
  /** The address that the server uses for its database, if it is not the address of the database itself. */
  through?: (databaseUrl: string) => Promise<string>;
}

interface RunningWorld {
  server: RunningServer;
  databaseUrl: string;
  startAnother(env?: Record<string, string>): Promise<RunningServer>;
  end(): Promise<void>;
}

const PATIENT = { lockTimeout: '60s', connectionMs: 60_000, answerMs: 120_000 };

/** The shared worlds, by their settings. */
const shared = new Map<string, Promise<RunningWorld>>();

/**
 * The world that all test files of this process with the same settings share: one server, one database, creator mode on. It
 * also holds the data of other files. A test that changes the whole account, or expects to be alone in it, needs
 * `createOwnWorld`.
 */
export async function createWorld(env: Record<string, string> = {}): Promise<World> {
  const key = JSON.stringify(Object.entries(env).sort());
  const running = shared.get(key) ?? startShared(env);
  shared.set(key, running);
  return worldOf(await running, async () => {});
}

async function startShared(env: Record<string, string>): Promise<RunningWorld> {
  const running = await start({ env });
  await running.server.db.pool.query('update tenant_settings set use_creator_mode = true');
  return running;
}

/** A server and a database for one file or one test alone, as a first start leaves them. */
export async function createOwnWorld(options: WorldOptions = {}): Promise<World> {
  const running = await start(options);
  return worldOf(running, running.end);
}

let spare: Promise<string> | undefined;

/** A copy of the template. PostgreSQL makes the next one already, because that is mostly waiting for the disk. */
function takeDatabase(): Promise<string> {
  const make = () => createDatabase(inject('postgresUrl'), inject('templateDatabase'));
  const taken = spare ?? make();
  spare = make();
  // An error reaches the world that takes this database later.
  spare.catch(() => {});
  return taken;
}

async function start(options: WorldOptions): Promise<RunningWorld> {
  const postgresUrl = inject('postgresUrl');
  const database = await takeDatabase();
  const databaseUrl = onServer(postgresUrl, database);
  const log = options.log ?? createServerLog();
  const settings = {
    ORIEL_PORT: '0',
    ORIEL_DATABASE_URL: (await options.through?.(databaseUrl)) ?? databaseUrl,
    ORIEL_SECRET_KEY: SECRET_KEY,
    ORIEL_DATA_DIR: await makeDataDir(),
    ORIEL_ADMIN_API_KEY: ADMIN_KEY,
    ORIEL_ADMIN_PASSWORD: ADMIN_PASSWORD,
    ...options.env,
  };
  const config = readConfig(settings);
  const waits = options.hasProductionWaits ? undefined : PATIENT;
  const server = await startServer(config, log, { timeouts: options.timeouts, waits });
  return {
    server,
    databaseUrl,
    startAnother: (env) => startServer(readConfig({ ...settings, ...env }), log, { waits }),
    async end() {
      await server.stop();
      await dropDatabase(postgresUrl, database);
    },
  };
}

/** The users of the database and of the engines must be able to enter it if we are root. It is removed with the run. */
async function makeDataDir(): Promise<string> {
  const dir = await mkdtemp(join(inject('runFolder'), 'data-dir-'));
  await chmod(dir, 0o711);
  return dir;
}

function worldOf({ server, databaseUrl, startAnother }: RunningWorld, end: () => Promise<void>): World {
  const others: RunningServer[] = [];
  const clientWith = (credential: { apiKey?: string; token?: string }) =>
    createOrielClient({ baseUrl: server.url, ...credential, fetch: checkedFetch, retries: 0 });
  const client = (apiKey?: string) => clientWith({ apiKey });
  const admin = client(ADMIN_KEY);

  return {
    url: server.url,
    databaseUrl,
    server,
    admin,
    client,
    bearer: (token) => clientWith({ token }),
    raw(method, path, { apiKey = ADMIN_KEY, headers, ...init } = {}) {
      const all = new Headers(headers);
      if (apiKey !== null && !all.has('authorization')) all.set('authorization', `Api-Key ${apiKey}`);
      return checkedFetch(server.url + path, { method, headers: all, ...init });
    },
    async person({ roles, deploymentIds } = {}) {
      const username = unique('person');
      const { id: userId } = await admin.createUser({
        body: { username, email: `${username}@example.com`, roles },
      });
      const { key, id } = await admin.createApiKey({ body: { name: username, userId, deploymentIds } });
      return { userId, apiKey: key, apiKeyId: id, client: client(key) };
    },
    deployment: (name = unique('deployment')) =>
      admin.createDeployment({
        body: {
          name,
          cloudProvider: 'managed',
          creationStep: 'ready',
          isManaged: true,
          region: 'local',
          targetPlatform: 'embedded',
        },
      }),
    async writeFiles(deploymentId, files) {
      const dir = await makeFilesDir(engineUser(), server.dataDir, deploymentId);
      for (const [name, content] of Object.entries(files)) {
        await writeFile(join(dir, name), content);
        await chmod(join(dir, name), 0o644);
      }
    },
    async embedded(request) {
      const { sessionId } = await admin.generateSession({ body: request });
      const { token } = await client().postTokenBySessionId({ body: { sessionId } });
      return { sessionId, token, client: clientWith({ token }) };
    },
    async anotherServer(env) {
      const another = await startAnother(env);
      others.push(another);
      return another;
    },
    async stop() {
      await Promise.all(others.map((other) => other.stop()));
      try {
        await requireNoSecrets(databaseUrl);
      } finally {
        await end();
      }
    },
  };
}
