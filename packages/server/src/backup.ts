/** `npm run backup`: writes the database and the files of deployments into one file, while the server runs. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { besideServer } from './beside-server.ts';
import { VERSION } from './build-info.ts';
import { readArgs } from './commands.ts';
import type { Config } from './config.ts';
import {
  findInstallation,
  fingerprintsOf,
  noteBackup,
  requireSecrets,
} from './domains/installation/index.ts';
import { dumpFiles } from './engines/stored-files.ts';
import { countsOf, existsAlready, type Totals, writeArchive } from './platform/db/backup/archive.ts';
import { dumpDatabase } from './platform/db/backup/dump.ts';
import type { Queryable } from './platform/db/database.ts';
import { findSecrets } from './platform/secrets/load-secrets.ts';
import { StartupError } from './platform/startup-error.ts';

export interface Backup {
  file: string;
  bytes: number;
  tables: number;
  rows: number;
  files: number;
  hasSecretKey: boolean;
  /** What the operator should know, although the backup is whole. */
  warning: string | undefined;
}

export async function makeBackup(config: Config, args: string[]): Promise<Backup> {
  const { file, values } = readArgs('backup', args);
  const withSecretKey = values['with-secret-key'] === true;
  if (existsSync(file)) throw existsAlready(file);
  if (!existsSync(dirname(file))) {
    throw new StartupError(`There is no folder ${dirname(file)}: make it first, or name another file.`);
  }
  let warning: string | undefined;
  let totals: Totals | undefined;
  await besideServer(config, async ({ connection, db, dataDir }) => {
    const describe = async (snapshot: Queryable) => {
      const secret = await describeSecret(snapshot, withSecretKey ? { config, dataDir } : undefined);
      warning = await warnOfKey(secret.secretKeyFingerprint, config, dataDir);
      return { version: VERSION, createdAt: new Date().toISOString(), ...secret };
    };
    await writeArchive(file, async (archive) => {
      const ofDatabase = await dumpDatabase(connection, archive, describe);
      const files = values['without-files'] ? 0 : await dumpFiles(dataDir, archive);
      totals = { ...ofDatabase, files };
      await archive.totals(totals);
    });
    // The notices of the server say how old the last backup is. The backup is whole also if this fails.
    await noteBackup(db).catch(() => {});
  });
  return { file, bytes: (await stat(file)).size, ...countsOf(totals!), hasSecretKey: withSecretKey, warning };
}

async function describeSecret(snapshot: Queryable, at?: { config: Config; dataDir: string }) {
  const installation = await findInstallation(snapshot);
  if (!installation) {
    throw new StartupError(
      'The database is not set up yet, so there is nothing to back up: start Oriel once.',
    );
  }
  const { secretFingerprint: secretKeyFingerprint } = installation;
  if (!at) return { secretKeyFingerprint };
  const values = await requireSecrets(installation, at.config, at.dataDir);
  const [fingerprint] = fingerprintsOf(values);
  if (values.length > 1 || fingerprint !== secretKeyFingerprint) {
    throw new StartupError(
      'The secret key is being replaced or is not the one of this database: finish that first, or back up without --with-secret-key.',
    );
  }
  return { secretKeyFingerprint, secretKey: values[0] };
}

/** The backup is made even without the key, because it may be the only way to save what is left. */
async function warnOfKey(fingerprint: string, config: Config, dataDir: string): Promise<string | undefined> {
  const found = await findSecrets(config, dataDir).catch((error) => {
    if (error instanceof StartupError) return undefined;
    throw error;
  });
  if (found && fingerprintsOf(found).includes(fingerprint)) return undefined;
  const what = found
    ? 'The secret key of these settings is not the one of this database'
    : `There is no secret key in the settings or in ${dataDir}`;
  return `${what}. The backup is whole, but can be restored only with the right key, or --without-secret-key, which loses every stored secret.`;
}
