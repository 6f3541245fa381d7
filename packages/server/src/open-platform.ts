/** Opens the resources that all domains use: connections to the database, notifications, keys, metrics. */
import { hostname } from 'node:os';
import type { Config } from './config.ts';
import { createRefusalAudit } from './platform/audit/events.ts';
import { createCsrf } from './platform/auth/csrf.ts';
import type { ConnectionSettings } from './platform/db/connection.ts';
import { type Database, openDatabase, type WaitLimits } from './platform/db/database.ts';
import { createListener } from './platform/db/listener.ts';
import { CREDENTIALS_CHANNEL, createNotifiedCache } from './platform/db/notified-cache.ts';
import type { Metrics } from './platform/http/metrics.ts';
import { createCursors } from './platform/http/pages.ts';
import { watchJobs } from './platform/jobs/metrics.ts';
import type { Logger } from './platform/log.ts';
import { createMail } from './platform/mail/mail.ts';
import type { MailSettings } from './platform/mail/settings.ts';
import type { Platform } from './platform/module.ts';
import { createOutbound, rulesOf } from './platform/outbound/outbound.ts';
import { type BoxedColumn, createBox } from './platform/secrets/box.ts';
import type { Keyring } from './platform/secrets/keyring.ts';
import type { Shutdown } from './platform/shutdown.ts';

export interface PlatformOptions {
  connection: ConnectionSettings;
  pools: Pick<Config, 'dbConnections' | 'dbEssentialConnections'>;
  waits?: WaitLimits;
  keyring: Keyring;
  publicUrl: string;
  /** By default the name of the machine. */
  processName?: string;
  allowPrivateRemotes: boolean;
  mail?: MailSettings | undefined;
  log: Logger;
  metrics: Metrics;
  shutdown: Shutdown;
}

export interface OpenedPlatform extends Platform {
  /** Each column that a module asked a box for. They are sealed again when the installation's secret is replaced. */
  readonly boxedColumns: readonly BoxedColumn[];
}

/** The listener is not started yet, so that modules can first name the channels that they listen to. */
export function openPlatform({
  connection,
  pools,
  waits,
  keyring,
  publicUrl,
  processName = hostname(),
  allowPrivateRemotes,
  mail,
  log,
  metrics,
  shutdown,
}: PlatformOptions): OpenedPlatform {
  const listener = createListener(connection, log);
  shutdown.add('the connection for notifications', () => listener.end());
  const onNotified = (subject: string) => listener.deliver(CREDENTIALS_CHANNEL, subject);
  const db = openDatabase(connection, log, { poolSize: pools.dbConnections, waits, onNotified });
  shutdown.add('the connections for content', () => db.end());
  const essential = openDatabase(connection, log, {
    poolSize: pools.dbEssentialConnections,
    waits,
    onNotified,
  });
  shutdown.add('the essential connections', () => essential.end());
  const attempts = createRefusalAudit(db, log);
  shutdown.add('the counting of refused attempts', attempts.stop);
  watchDatabase(metrics, db, essential);
  const boxedColumns: BoxedColumn[] = [];
  return {
    db,
    essential,
    listener,
    attempts,
    cursors: createCursors(keyring.keysFor('cursors')),
    csrf: createCsrf(keyring.keysFor('csrf'), publicUrl),
    log,
    metrics,
    publicUrl,
    processName,
    outbound: createOutbound(rulesOf({ allowPrivate: allowPrivateRemotes })),
    mail: mail && createMail(mail),
    keysFor: keyring.keysFor,
    box(column) {
      boxedColumns.push(column);
      return createBox(column, keyring);
    },
    boxedColumns,
    createCache: (subjectsOf) => createNotifiedCache(listener, CREDENTIALS_CHANNEL, subjectsOf),
  };
}

function watchDatabase(metrics: Metrics, db: Database, essential: Database) {
  const watchPool = (name: string, what: string, watched: Database) => {
    metrics.gauge(`${name}_connections`, `Connections for ${what}`, () => watched.pool.totalCount);
    metrics.gauge(
      `${name}_waiting`,
      `Requests that wait for a connection for ${what}`,
      () => watched.waiting,
    );
  };
  watchPool('oriel_db', 'content', db);
  watchPool('oriel_db_essential', 'essential work', essential);
  watchJobs(metrics, essential);
}
