/** `npm run restore`: puts a backup into a new data dir or an empty external database. */
import { existsSync } from 'node:fs';
import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SCHEMA_FILES } from './build-info.ts';
import { readArgs } from './commands.ts';
import type { Config } from './config.ts';
import { fingerprintsOf } from './domains/installation/index.ts';
import { skipSessionIds } from './domains/sessions/index.ts';
import { deleteAllSigningKeys, deleteAllWorkloadKeys } from './domains/signing-keys/index.ts';
import { createFileLoader, hasStoredFiles, lastStoredFolder } from './engines/stored-files.ts';
import { forgetSecrets, type LostVariables } from './forget-secrets.ts';
import { openConnection, runCommand } from './open-connection.ts';
import { countsOf, type Header, readArchive, type Totals } from './platform/db/backup/archive.ts';
import { analyzeDatabase, loadDatabase } from './platform/db/backup/load.ts';
import { markUnfinished, requireFinished, unmarkUnfinished } from './platform/db/backup/unfinished.ts';
import type { ConnectionSettings } from './platform/db/connection.ts';
import type { Queryable } from './platform/db/database.ts';
import { defaultDataDir } from './platform/db/embedded/data-dir.ts';
import { requireReachable } from './platform/db/first-connection.ts';
import { migrate, readSchema, type Schema } from './platform/db/migrate.ts';
import type { Migration } from './platform/db/migrations.ts';
import type { Logger } from './platform/log.ts';
import { findSecrets, loadSecrets, storeSecret } from './platform/secrets/load-secrets.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { StartupError } from './platform/startup-error.ts';

export interface RestoreSummary {
  createdAt: string;
  /** Completes "rows of tables, …". */
  into: string;
  tables: number;
  rows: number;
  files: number;
  /** Only if the secret key was lost: the variables whose values are gone. */
  lost: LostVariables | undefined;
}

/** `signal` ends it: it then removes what it has written, unless everything is written already. */
export function restoreBackup(config: Config, args: string[], signal?: AbortSignal): Promise<RestoreSummary> {
  const orEnded = (error: unknown) => {
    throw signal?.aborted ? signal.reason : error;
  };
  return runCommand(async ({ log, shutdown }) => {
    const plan = await planRestore(config, args, signal).catch(orEnded);
    const { dataDir, schema, header, totals } = plan;
    const keep = await removeUnlessKept(plan, shutdown);
    const connection = await load(plan, { config, log, shutdown, signal }).catch(orEnded);
    await keep();
    await migrate(connection, schema);
    let lost: LostVariables | undefined;
    if (plan.isKeyLost) {
      const secrets = await findSecrets(config, dataDir);
      lost = await forgetSecrets(connection, fingerprintsOf(secrets!)[0]!);
    }
    await analyzeDatabase(connection);
    const into = config.databaseUrl ? 'as ORIEL_DATABASE_URL says' : `embedded PostgreSQL, in ${dataDir}`;
    return { createdAt: header.createdAt, into, ...countsOf(totals), lost };
  });
}

interface Plan {
  file: string;
  dataDir: string;
  schema: Schema;
  header: Header;
  /** The migrations of the backup's version. */
  migrations: Migration[];
  totals: Totals;
  key: KeyPlan;
  isKeyLost: boolean;
  isIntoDataDir: boolean;
  /** Paths of what the restore has made in the data dir. */
  added: string[];
}

/** Everything is read and checked once before anything is written. */
async function planRestore(config: Config, args: string[], signal?: AbortSignal): Promise<Plan> {
  const { file, values } = readArgs('restore', args);
  const dataDir = config.dataDir ?? defaultDataDir();
  requireFinished(dataDir);
  requireNoDatabase(config, dataDir);
  const schema = await readSchema(SCHEMA_FILES);
  const header = await readHeader(file);
  const migrations = migrationsOf(header, schema.migrations);
  const isKeyLost = values['without-secret-key'] === true;
  const key = isKeyLost ? await planNewKey(header, config, dataDir) : await planKey(header, config, dataDir);
  const totals = await readTotals(file, signal);
  await requireNoOtherFiles(totals, dataDir);
  const isIntoDataDir = !config.databaseUrl || key !== 'given' || totals.files > 0;
  return { file, dataDir, schema, header, migrations, totals, key, isKeyLost, isIntoDataDir, added: [] };
}

/** Returns `keep`. A mark in the data dir forbids its use until the restored files are kept or removed. */
async function removeUnlessKept({ dataDir, isIntoDataDir, added }: Plan, shutdown: Shutdown) {
  if (!isIntoDataDir) return async () => {};
  await markUnfinished(dataDir);
  shutdown.add('what was restored', async () => {
    for (const path of added) {
      await rm(path, { recursive: true, force: true });
      // Removes the folder of a deployment too, unless it has other files.
      await rmdir(dirname(path)).catch(() => {});
    }
    await unmarkUnfinished(dataDir);
  });
  return async () => {
    added.splice(0);
    await unmarkUnfinished(dataDir);
  };
}

async function load(
  { dataDir, key, header, migrations, file, totals, added }: Plan,
  {
    config,
    log,
    shutdown,
    signal,
  }: { config: Config; log: Logger; shutdown: Shutdown; signal?: AbortSignal },
): Promise<ConnectionSettings> {
  const connection = await openConnection(config, { dataDir, log, shutdown });
  if (!config.databaseUrl) added.push(join(dataDir, 'postgres'));
  await requireReachable(connection);
  if (key !== 'given') {
    if (key === 'stored') await storeSecret(dataDir, header.secretKey!);
    else await loadSecrets(config, dataDir);
    added.push(join(dataDir, 'secret.key'));
  }
  const files = createFileLoader(dataDir, (path) => added.push(path));
  shutdown.add('the files', files.close);
  await loadDatabase(connection, {
    header,
    migrations,
    entries: readArchive(file, signal),
    takeFile: files.take,
    finish: async (db) => {
      await files.finish(totals.files);
      await endLaterCredentials(db, header);
    },
    signal,
  });
  return connection;
}

/**
 * Ids that were given after the backup are given again. Most credentials are known by a hash in the database, so those
 * from after the backup are unknown now. This ends the others, which name an id and are only signed: embed tokens, and
 * what names a session of a person.
 */
async function endLaterCredentials(db: Queryable, { tables }: Header) {
  const has = (name: string) => tables.some((table) => table.name === name);
  if (has('signing_keys')) await deleteAllSigningKeys(db);
  if (has('workload_keys')) await deleteAllWorkloadKeys(db);
  if (has('sessions')) await skipSessionIds(db);
}

/** Before anything else, because the key of another database says nothing about the backup. */
function requireNoDatabase({ databaseUrl }: Config, dataDir: string) {
  if (databaseUrl || !existsSync(join(dataDir, 'postgres'))) return;
  throw new StartupError(
    `The data dir ${dataDir} holds a database already: set ORIEL_DATA_DIR to a new folder, or move that one away.`,
  );
}

async function requireNoOtherFiles({ files, sequences }: Totals, dataDir: string) {
  if (files && (await hasStoredFiles(dataDir))) {
    throw new StartupError(`The folder ${join(dataDir, 'files')} is not empty: restore into a new data dir.`);
  }
  const ids = sequences.find(({ name }) => name === 'deployments_id_seq');
  const lastId = ids?.isCalled ? Number(ids.lastValue) : 0;
  const folder = await lastStoredFolder(dataDir);
  if (folder <= lastId) return;
  throw new StartupError(
    `The folder ${join(dataDir, 'files', String(folder))} belongs to a deployment that is younger than the backup, and a new deployment would get its files: move it away.`,
  );
}

async function readHeader(file: string): Promise<Header> {
  for await (const entry of readArchive(file)) if ('header' in entry) return entry.header;
  throw new Error('an archive begins with its header');
}

async function readTotals(file: string, signal?: AbortSignal): Promise<Totals> {
  for await (const entry of readArchive(file, signal)) if ('totals' in entry) return entry.totals;
  throw new Error('an archive ends with its totals');
}

/** The migrations of the backup's version, which this build must have. */
function migrationsOf({ migrations, version }: Header, known: Migration[]): Migration[] {
  if (migrations.length > known.length) {
    throw new StartupError(
      `The backup has schema version ${migrations.length}, and this Oriel knows versions up to ${known.length}: restore it with Oriel ${version} or later.`,
    );
  }
  const other = migrations.find(({ checksum }, i) => checksum !== known[i]!.checksum);
  if (other) {
    throw new StartupError(
      `Migration ${other.version} (${other.name}) of this Oriel is not the one that the backup was made with: use an unmodified release.`,
    );
  }
  return known.slice(0, migrations.length);
}

/** The operator has given the key, or it is in the backup and must be stored, or a new one must be made. */
type KeyPlan = 'given' | 'stored' | 'made';

const IF_LOST = 'If it is lost, --without-secret-key restores everything but the stored secrets.';

async function planKey(header: Header, config: Config, dataDir: string): Promise<KeyPlan> {
  const found = await findSecrets(config, dataDir);
  if (!found && header.secretKey === undefined) {
    throw new StartupError(
      `The secret key is not in the backup: put the secret.key of the old server into ${dataDir}, or set ORIEL_SECRET_KEY. ${IF_LOST}`,
    );
  }
  if (!fingerprintsOf(found ?? [header.secretKey!]).includes(header.secretKeyFingerprint)) {
    throw new StartupError(
      `The backup was made with another secret key: set ORIEL_SECRET_KEY to that key, or put it into the data dir as secret.key. ${IF_LOST}`,
    );
  }
  return found ? 'given' : 'stored';
}

/** A key that is given becomes the new one. */
async function planNewKey(header: Header, config: Config, dataDir: string): Promise<KeyPlan> {
  const found = await findSecrets(config, dataDir);
  const isFound = found && fingerprintsOf(found).includes(header.secretKeyFingerprint);
  if (isFound || header.secretKey !== undefined) {
    throw new StartupError(
      `The secret key is not lost: it is ${isFound ? 'given' : 'in the backup'}. Leave out --without-secret-key.`,
    );
  }
  return found ? 'given' : 'made';
}
