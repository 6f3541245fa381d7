/**
 * A PostgreSQL server with a migrated database. Making both takes longer than most test files, so a copy of the files is
 * kept under `node_modules/.cache`, by a hash of what they are made from.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hashInputs } from '../../../scripts/build-files.mjs';
import { root } from '../../../scripts/install.mjs';
import { makeDataDir } from '../src/platform/db/embedded/data-dir.ts';
import { migrate } from '../src/platform/db/migrate.ts';
import { createDatabase, onServer, readOwnSchema } from './databases.ts';
import { startTestPostgres } from './test-postgres.ts';

const CACHE = join(root, 'node_modules', '.cache', 'oriel-test-postgres');

export async function startMigratedPostgres(dataDir: string) {
  const key = await hashOfInputs();
  const kept = join(CACHE, key);
  const name = await readFile(join(kept, 'template'), 'utf8').catch(() => undefined);
  if (name) {
    await makeDataDir(dataDir);
    await copyFiles(join(kept, 'postgres'), dataDir);
    return { ...(await startTestPostgres(dataDir)), templateDatabase: name };
  }
  const first = await startTestPostgres(dataDir);
  const templateDatabase = await makeTemplate(first.url);
  // Its files can be copied only while it is stopped.
  await first.stop();
  await keep(key, join(dataDir, 'postgres'), templateDatabase);
  return { ...(await startTestPostgres(dataDir)), templateDatabase };
}

export async function makeTemplate(serverUrl: string): Promise<string> {
  const name = await createDatabase(serverUrl);
  await migrate({ connectionString: onServer(serverUrl, name) }, await readOwnSchema());
  return name;
}

async function hashOfInputs(): Promise<string> {
  const code = await hashInputs(
    ['packages/server/src/platform/db'],
    [
      'package-lock.json',
      'packages/server/test/migrated-postgres.ts',
      'packages/server/test/test-postgres.ts',
    ],
  );
  const schema = JSON.stringify(await readOwnSchema());
  // The files belong to the user that the database runs as.
  const user = `${process.getuid?.()}`;
  return createHash('sha256').update(`${code}\n${user}\n${schema}`).digest('hex').slice(0, 20);
}

async function keep(key: string, files: string, templateDatabase: string) {
  const unfinished = join(CACHE, `unfinished-${process.pid}`);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await copyFiles(files, unfinished);
  await writeFile(join(unfinished, 'template'), templateDatabase);
  // Removing a copy that another run uses is safe: that run has copied the files already, or fails to start and makes
  // its own copy next time.
  for (const name of await readdir(CACHE))
    if (!name.startsWith('unfinished')) await rm(join(CACHE, name), { recursive: true, force: true });
  await rename(unfinished, join(CACHE, key)).catch(() => rm(unfinished, { recursive: true, force: true }));
}

/** Copies files with their owners and modes, which PostgreSQL checks. */
const copyFiles = (from: string, to: string) => promisify(execFile)('cp', ['-a', from, to]);
