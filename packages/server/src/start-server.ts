/** Starts the server from its settings, and stops it. */
import { hostname } from 'node:os';
import { checkModules, createApp, createModules, createOperationalApp } from './app.ts';
import { SCHEMA_FILES, VERSION } from './build-info.ts';
import type { Config } from './config.ts';
import { type FirstAdmin, setUpInstallation } from './domains/installation/index.ts';
import { type JobProcess, startJobs, superviseJobs } from './job-worker.ts';
import { openConnection } from './open-connection.ts';
import { openPlatform } from './open-platform.ts';
import { requireFinished } from './platform/db/backup/unfinished.ts';
import type { Database, WaitLimits } from './platform/db/database.ts';
import { defaultDataDir, makeDataDir } from './platform/db/embedded/data-dir.ts';
import { EMBEDDED_DATABASE } from './platform/db/embedded/embedded-postgres.ts';
import { explainIfOfDatabase, whileDatabaseStarts } from './platform/db/first-connection.ts';
import { readForeignKeys } from './platform/db/foreign-keys.ts';
import { migrate, readSchema } from './platform/db/migrate.ts';
import { createMetrics } from './platform/http/metrics.ts';
import { reservePort } from './platform/http/reserve-port.ts';
import type { Timeouts } from './platform/http/server.ts';
import type { Worker } from './platform/jobs/worker.ts';
import type { Logger } from './platform/log.ts';
import { startPresence } from './platform/presence/presence.ts';
import { createKeyring } from './platform/secrets/keyring.ts';
import { loadSecrets } from './platform/secrets/load-secrets.ts';
import { requireSecretsOf } from './platform/secrets/reseal.ts';
import { createShutdown, type Shutdown } from './platform/shutdown.ts';
import { StartupError } from './platform/startup-error.ts';

export interface RunningServer {
  /** Where it listens. */
  url: string;
  publicUrl: string;
  dataDir: string;
  firstAdmin: FirstAdmin | undefined;
  /** Connections for content. */
  db: Database;
  /** Connections for work that must succeed even if all connections of `db` are busy. */
  essential: Database;
  /**
   * Requests in flight finish. Then everything that was started is stopped, in the reverse order. Rejects if something
   * could not be stopped.
   */
  stop(): Promise<void>;
}

/** How long a start waits for a database that cannot be reached yet. */
const WAIT_FOR_DATABASE_MS = 60_000;

export interface StartOptions {
  timeouts?: Timeouts;
  /** Without it, jobs run in this process. */
  jobProcess?: JobProcess;
  waits?: WaitLimits;
  waitForDatabaseMs?: number;
  showFirstAdmin?: (admin: FirstAdmin, publicUrl: string, hasDemo: boolean) => void;
  /** Ends the waiting for a database. */
  signal?: AbortSignal;
}

export async function startServer(
  config: Config,
  log: Logger,
  options: StartOptions = {},
): Promise<RunningServer> {
  const shutdown = createShutdown(log);
  try {
    return await start(config, log, shutdown, options);
  } catch (error) {
    // The log reports what could not be stopped. The reason why the start failed matters more.
    await shutdown.run().catch(() => {});
    throw explainIfOfDatabase(error);
  }
}

async function start(
  config: Config,
  log: Logger,
  shutdown: Shutdown,
  options: StartOptions,
): Promise<RunningServer> {
  // Reserved first and released just before we listen, so that a port in use stops the start before anything is
  // created.
  const reserved = await reservePort(config.host, config.port);
  shutdown.add('the answers of a start', reserved.release);
  const url = `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${reserved.port}`;
  const publicUrl = config.publicUrl ?? url;
  const schema = await readSchema(SCHEMA_FILES);
  const build = { version: VERSION, schemaVersion: schema.migrations.length, address: url };
  log.info(build, 'starting');
  for (const name of config.unknown) log.warn(`${name} is not a setting of Oriel, and is ignored`);

  const { tenant, plan, maxExternalUsers, deviceCodeSeconds, embedQuerySeconds, dataFilesMb } = config;
  const { allowPrivateRemotes, dbtPython, githubApp, oidc, slackToken } = config;
  const turnWaitMs = options.waits?.connectionMs;
  const dataDir = config.dataDir ?? defaultDataDir();
  requireFinished(dataDir);
  const moduleSettings = {
    tenant,
    plan,
    maxExternalUsers,
    deviceCodeSeconds,
    embedQuerySeconds,
    dataFilesMb,
    allowPrivateRemotes,
    dbtPython,
    githubApp,
    oidc,
    slackToken,
    hasKeyInDataDir: config.secretKey === undefined,
    latestRelease: config.latestRelease,
    turnWaitMs,
    dataDir,
  };
  await checkModules(moduleSettings, log);

  const metrics = createMetrics();
  const connection = await openConnection(config, {
    dataDir,
    log,
    metrics: metrics.ofProcess(EMBEDDED_DATABASE),
    shutdown,
  });
  const onWait = () =>
    log.info('waiting for a backup to end, because migrations change tables that it reads');
  await whileDatabaseStarts(() => migrate(connection, schema, onWait), {
    log,
    withinMs: options.waitForDatabaseMs ?? WAIT_FOR_DATABASE_MS,
    signal: options.signal,
  });

  // After the migrations, so that a start with a database that cannot be used leaves no secret behind.
  if (!config.secretKey) await makeDataDir(dataDir);
  const secrets = await loadSecrets(config, dataDir);
  const keyring = createKeyring(secrets.values);
  // The same after a restart, so that restarts can be counted.
  const processName = `web-${hostname()}-${reserved.port}`;
  const platform = openPlatform({
    connection,
    pools: config,
    waits: options.waits,
    keyring,
    publicUrl,
    processName,
    allowPrivateRemotes: config.allowPrivateRemotes,
    mail: config.mail,
    log,
    metrics,
    shutdown,
  });
  const modules = createModules(platform, moduleSettings);
  for (const { stop } of modules.list) if (stop) shutdown.add('a module', stop);
  const { db, essential, listener } = platform;
  const { firstAdmin, withoutEffect } = await setUpInstallation(db, {
    tenant,
    admin: config.admin,
    demo: config.demo ? modules.list.flatMap(({ demo }) => demo ?? []) : [],
    secretKeys: keyring.keysFor('installation'),
    missingKeyFile: secrets.generatedFile,
    showFirstAdmin: (admin, hasDemo) => options.showFirstAdmin?.(admin, publicUrl, hasDemo),
  }).catch(async (error) => {
    // The database belongs to a secret that is missing here, and a new secret would only hide that. After any other
    // failure the set-up may have been committed, and the secret is needed.
    if (error instanceof StartupError) await secrets.discard();
    throw error;
  });
  for (const line of withoutEffect) log.warn(line);

  await requireSecretsOf(db, keyring, platform.boxedColumns);
  const { role, logLevel } = config;
  let worker: Worker | undefined;
  if (role !== 'web') {
    worker = options.jobProcess
      ? await superviseJobs(platform, options.jobProcess, {
          connection,
          secrets: secrets.values,
          publicUrl,
          allowPrivateRemotes: config.allowPrivateRemotes,
          mail: config.mail,
          logLevel,
          modules: moduleSettings,
        })
      : await startJobs(platform, modules.list);
    shutdown.add('the jobs', worker.stop);
  }
  await listener.start();

  metrics.info('oriel_build_info', 'The version and address of this server', {
    version: build.version,
    schema_version: String(build.schemaVersion),
    address: build.address,
    node: process.version,
  });
  const { limits, trustProxy, metricsToken } = config;
  const missingReference = await readForeignKeys(db);
  const settings = { limits, trustProxy, metricsToken, timeouts: options.timeouts, missingReference };
  const app =
    role === 'worker' ? createOperationalApp(platform, settings) : createApp(platform, modules, settings);
  await app.ready();
  await reserved.release();
  await app.listen({ host: config.host, port: reserved.port });
  shutdown.add('the HTTP server', () => {
    // Tells the jobs to stop now. Their own step waits for them, and reports if they do not end.
    worker?.stop().catch(() => {});
    return app.close();
  });
  if (role !== 'worker') {
    const presence = await startPresence(platform, { name: processName, type: 'web', containers: ['MAIN'] });
    shutdown.add('the reports of this process', presence.stop);
    for (const module of modules.list) module.started?.();
  }
  log.info('ready');

  return {
    url,
    publicUrl,
    dataDir,
    firstAdmin,
    db,
    essential,
    stop: () => shutdown.run(),
  };
}
