/** `npm run backup`: writes the database and the files of deployments into one file, while the server runs. */
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { besideServer } from './beside-server.ts';
import { VERSION } from './build-info.ts';
import type { Config } from './config.ts';
import { findInstallation, fingerprintOf } from './domains/installation/index.ts';
import { dumpFiles } from './engines/stored-files.ts';
import { type Totals, writeArchive } from './platform/db/backup/archive.ts';
import { dumpDatabase } from './platform/db/backup/dump.ts';
import type { Queryable } from './platform/db/database.ts';
import { createKeyring } from './platform/secrets/keyring.ts';
import { loadSecrets } from './platform/secrets/load-secrets.ts';
import { StartupError } from './platform/startup-error.ts';

const USAGE = 'Usage: npm run backup -- <file that does not exist yet> [--with-secret-key] [--without-files]';

export interface Backup {
  file: string;
  bytes: number;
  tables: number;
  rows: number;
  files: number;
  hasSecretKey: boolean;
}

export async function makeBackup(config: Config, args: string[]): Promise<Backup> {
  const { file, withSecretKey, withoutFiles } = readArgs(args);
  if (existsSync(file)) throw new StartupError(`The file ${file} exists already: name another one.`);
  let totals: Totals | undefined;
  await besideServer(config, async ({ connection, dataDir }) => {
    const describe = async (snapshot: Queryable) => ({
      version: VERSION,
      createdAt: new Date().toISOString(),
      ...(await describeSecret(snapshot, withSecretKey ? { config, dataDir } : undefined)),
    });
    await writeArchive(file, async (archive) => {
      const ofDatabase = await dumpDatabase(connection, archive, describe);
      const files = withoutFiles ? 0 : await dumpFiles(dataDir, archive);
      totals = { ...ofDatabase, files };
      await archive.totals(totals);
    });
  });
  return { file, bytes: (await stat(file)).size, ...countsOf(totals!), hasSecretKey: withSecretKey };
}

export function countsOf({ tables, files }: Totals) {
  const sums = Object.values(tables);
  return { tables: sums.length, rows: sums.reduce((all, { rows }) => all + rows, 0), files };
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
  const { values } = await loadSecrets(at.config, at.dataDir, { mayGenerate: false });
  const [fingerprint] = fingerprintsOf(values);
  if (values.length > 1 || fingerprint !== secretKeyFingerprint) {
    throw new StartupError(
      'The secret key is being replaced or is not the one of this database: finish that first, or back up without --with-secret-key.',
    );
  }
  return { secretKeyFingerprint, secretKey: values[0] };
}

export const fingerprintsOf = (secrets: readonly [string, ...string[]]) =>
  createKeyring(secrets).keysFor('installation').map(fingerprintOf);

function readArgs(args: string[]) {
  try {
    const { values, positionals } = parseArgs({
      args,
      allowPositionals: true,
      options: { 'with-secret-key': { type: 'boolean' }, 'without-files': { type: 'boolean' } },
    });
    if (positionals.length === 1 && positionals[0] !== '') {
      return {
        file: resolve(positionals[0]!),
        withSecretKey: values['with-secret-key'] === true,
        withoutFiles: values['without-files'] === true,
      };
    }
  } catch {
    // The usage says what is wrong.
  }
  throw new StartupError(USAGE);
}
