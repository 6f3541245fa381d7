/** From settings to a listening server, and back down. */
import { join } from 'node:path';
import pg from 'pg';
import { createApp } from './app.ts';
import type { Config } from './config.ts';
import { type FirstAdmin, setUpInstallation } from './domains/installation/index.ts';
import { createTenantSettings } from './domains/tenant-settings/index.ts';
import { CREDENTIALS_CHANNEL, createAuthenticator } from './platform/auth/authenticate.ts';
import { createEmbedTokens } from './platform/auth/embed-tokens.ts';
import { createRevocations, REVOCATIONS_CHANNEL } from './platform/auth/revocations.ts';
import { createSigningKeys, rotateSigningKeys, signingKeyRotation } from './platform/auth/signing-keys.ts';
import { type ConnectionSettings, type Database, openDatabase } from './platform/db/database.ts';
import { defaultDataDir, makeDataDir } from './platform/db/embedded/data-dir.ts';
import { startEmbeddedPostgres } from './platform/db/embedded/embedded-postgres.ts';
import { startListener } from './platform/db/listener.ts';
import { migrate, readMigrations } from './platform/db/migrate.ts';
import { createNotifiedCache } from './platform/db/notified-cache.ts';
import { createMetrics, type Metrics } from './platform/http/metrics.ts';
import { reservePort } from './platform/http/reserve-port.ts';
import type { Timeouts } from './platform/http/server.ts';
import { JOBS_CHANNEL, startWorker } from './platform/jobs/jobs.ts';
import { countJobs } from './platform/jobs/store.ts';
import type { Logger } from './platform/log.ts';
import { deriveKey, loadSecretKey } from './platform/secrets.ts';
import { StartupError } from './platform/startup-error.ts';
import { removals, upkeep } from './upkeep.ts';

export interface RunningServer {
  /** Where it listens. */
  url: string;
  publicUrl: string;
  dataDir: string;
  firstAdmin: FirstAdmin | undefined;
  db: Database;
  /** Requests in flight finish; then everything that was started is stopped, in reverse. */
  stop(): Promise<void>;
}

const MIGRATIONS_DIR = join(import.meta.dirname, '..', 'migrations');

export type ShowFirstAdmin = (admin: FirstAdmin, publicUrl: string, hasDemo: boolean) => void;

export async function startServer(
  config: Config,
  log: Logger,
  timeouts?: Timeouts,
  showFirstAdmin: ShowFirstAdmin = () => {},
): Promise<RunningServer> {
  const undo: (() => Promise<void>)[] = [];
  const stopAll = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    return await start(config, log, undo, stopAll, timeouts, showFirstAdmin);
  } catch (error) {
    await stopAll().catch((failure) => log.error({ err: failure }, 'could not stop cleanly'));
    throw error;
  }
}

async function start(
  config: Config,
  log: Logger,
  undo: (() => Promise<void>)[],
  stopAll: () => Promise<void>,
  timeouts: Timeouts | undefined,
  showFirstAdmin: ShowFirstAdmin,
): Promise<RunningServer> {
  // Taken first and given back just before we listen: a port that is taken stops the start before anything is made.
  const reserved = await reservePort(config.host, config.port);
  undo.push(reserved.release);
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${reserved.port}`;
  const publicUrl = config.publicUrl ?? url;

  const dataDir = config.dataDir ?? defaultDataDir();
  const connection = await openConnection(config, dataDir, log, undo);
  await migrate(connection, await readMigrations(MIGRATIONS_DIR)).catch(explainDatabaseError);

  const db = openDatabase(connection, log);
  undo.push(() => db.end());
  // Only now: a database that can not be used leaves no secret behind.
  if (!config.secretKey) await makeDataDir(dataDir);
  const secret = config.secretKey
    ? { value: config.secretKey, discard: async () => {} }
    : await loadSecretKey(dataDir);
  const { firstAdmin } = await setUpInstallation(db, {
    admin: config.admin,
    demo: config.demo,
    secretKey: deriveKey(secret.value, 'installation'),
    showFirstAdmin: (admin, hasDemo) => showFirstAdmin(admin, publicUrl, hasDemo),
  }).catch(async (error) => {
    // The database belongs to a secret that is not here: a new one beside it would only hide that. After any other
    // failure the set-up may have happened all the same, and the secret with it.
    if (error instanceof StartupError) await secret.discard();
    throw error;
  });

  const listener = await startListener(
    connection,
    [CREDENTIALS_CHANNEL, JOBS_CHANNEL, REVOCATIONS_CHANNEL],
    log,
  );
  undo.push(() => listener.end());
  const revocations = createRevocations(db, listener, log);
  undo.push(async () => revocations.stop());
  const signingSecret = deriveKey(secret.value, 'signing keys');
  await rotateSigningKeys(db, signingSecret);
  const remembered = <Key, Value>() => createNotifiedCache<Key, Value>(listener, CREDENTIALS_CHANNEL);
  const signingKeys = createSigningKeys(db, remembered(), signingSecret);
  const embedTokens = createEmbedTokens({ db, keys: signingKeys, revocations, permissions: remembered() });
  const authenticator = createAuthenticator({ db, listener, embedTokens, log });
  undo.push(() => authenticator.stop());
  const worker = await startWorker({
    db,
    listener,
    log,
    kinds: removals,
    schedules: [...upkeep, signingKeyRotation(signingSecret)],
  });
  undo.push(() => worker.stop());

  const metrics = createMetrics();
  watchDatabase(metrics, db);
  const app = createApp({
    ...config,
    db,
    authenticator,
    userCache: remembered(),
    tenantSettings: createTenantSettings(db, remembered()),
    knownDeployments: remembered(),
    signingKeys,
    embedTokens,
    revocations,
    log,
    metrics,
    secretKey: secret.value,
    publicUrl,
    timeouts,
  });
  await app.ready();
  await reserved.release();
  await app.listen({ host: config.host, port: reserved.port });
  undo.push(() => app.close());

  return {
    url,
    publicUrl,
    dataDir,
    firstAdmin,
    db,
    stop: stopAll,
  };
}

async function openConnection(
  config: Config,
  dataDir: string,
  log: Logger,
  undo: (() => Promise<void>)[],
): Promise<ConnectionSettings> {
  if (config.databaseUrl) return { connectionString: config.databaseUrl };
  const postgres = await startEmbeddedPostgres(dataDir, log);
  undo.push(() => postgres.stop());
  return postgres.connection;
}

/** The ways in which a given database can be unusable, each in a line. */
function explainDatabaseError(error: Error & { code?: string }): never {
  if (error instanceof StartupError) throw error;
  const cause = (error.cause ?? error) as Error & { code?: string };
  const reason = cause.message || cause.code || String(cause);
  if (!(cause instanceof pg.DatabaseError)) {
    throw new StartupError(
      `The database can not be reached (${reason}): check that it runs and that ORIEL_DATABASE_URL is right.`,
    );
  }
  if (/^(28|3D)/.test(cause.code ?? '')) {
    throw new StartupError(
      `The database refuses us (${reason}): check user, password and name in ORIEL_DATABASE_URL.`,
    );
  }
  if (cause.code === '42501') {
    throw new StartupError(
      `The database user may not create tables (${reason}): make it the owner of the database in ORIEL_DATABASE_URL.`,
    );
  }
  if (cause.code === '0A000') {
    throw new StartupError(
      `The database lacks something that Oriel needs (${reason}): install PostgreSQL's contrib package, which brings pg_trgm.`,
    );
  }
  throw error;
}

function watchDatabase(metrics: Metrics, db: Database) {
  metrics.gauge('oriel_db_connections', 'Connections of the pool', () => db.pool.totalCount);
  metrics.gauge('oriel_db_waiting', 'Requests that wait for a connection', () => db.pool.waitingCount);
  metrics.gauge('oriel_jobs_waiting', 'Jobs that wait or are due later', () => countJobs(db, 'waiting'));
  metrics.gauge('oriel_jobs_failed', 'Jobs that were given up', () => countJobs(db, 'failed'));
}
