/** Starts one PostgreSQL for the whole run, with a migrated database. Each world gets a copy of it. */
import { chmod, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { build } from '../../../scripts/build.mjs';
import { dropCopies, dropDatabase } from './databases.ts';
import { isAlive } from './is-alive.ts';
import { makeTemplate, startMigratedPostgres } from './migrated-postgres.ts';
import { provideRowTypes } from './row-types/report.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the PostgreSQL server under test; its database is only for administration. */
    postgresUrl: string;
    templateDatabase: string;
    /** A folder for files that several tests use. It is removed at the end of the run. */
    runFolder: string;
  }
}

export default async function setup(project: TestProject) {
  const runFolder = await makeFolder(tmpdir());
  const given = process.env.ORIEL_TEST_DATABASE_URL;
  const databaseFolder = given ? undefined : await makeFolder(await databaseParent());
  const [{ url, stop, templateDatabase }] = await Promise.all([
    given ? givenPostgres(given) : startMigratedPostgres(join(databaseFolder!, 'data')),
    // All tests need the threads, the engines and the page.
    build({ hasProgram: needsProgram(project) }),
  ]);
  project.provide('postgresUrl', url);
  project.provide('templateDatabase', templateDatabase);
  project.provide('runFolder', runFolder);
  const reportRowTypes = await provideRowTypes(project);
  let ended: Promise<void> | undefined;
  const tearDown = () => {
    ended ??= (async () => {
      await reportRowTypes();
      if (given) {
        // Also drops the databases of the shared worlds, which no test file stops.
        await dropCopies(url, templateDatabase);
        await dropDatabase(url, templateDatabase);
      }
      await stop();
      for (const folder of [runFolder, databaseFolder])
        if (folder) await rm(folder, { recursive: true, force: true });
    })();
    return ended;
  };
  // Vitest itself would end at once, and leave behind what this file started.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.removeAllListeners(signal);
    process.on(signal, () => void tearDown().finally(() => process.exit(1)));
  }
  return tearDown;
}

/** mkdtemp makes a folder private, but the user of the database must be able to enter it if we are root. */
async function makeFolder(parent: string) {
  const folder = await mkdtemp(join(parent, `oriel-test-${process.pid}-`));
  await chmod(folder, 0o711);
  return folder;
}

const MEMORY = '/dev/shm';
const MEMORY_MIN_BYTES = 8 * 1024 ** 3;

/** Each world makes and drops thousands of files, which costs the least in memory, if the machine has enough of it. */
async function databaseParent() {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  if (Math.min(free, process.availableMemory()) < MEMORY_MIN_BYTES) return tmpdir();
  await removeLeftovers();
  return MEMORY;
}

/** A run that was killed leaves its database behind, which would take memory until the machine is started again. */
async function removeLeftovers() {
  for (const name of await readdir(MEMORY)) {
    const pid = Number(/^oriel-test-(\d+)-/.exec(name)?.[1]);
    if (pid && !isAlive(pid)) await rm(join(MEMORY, name), { recursive: true, force: true });
  }
}

async function givenPostgres(url: string) {
  return { url, stop: async () => {}, templateDatabase: await makeTemplate(url) };
}

/** The program takes most of the time of a build, and only tests that start the server as its users do need it. */
function needsProgram({ config, vitest }: TestProject): boolean {
  if (process.env.ORIEL_TEST_PROGRAM === 'false') return false;
  return vitest.config.watch || config.include.some((pattern) => !pattern.endsWith('.test.ts'));
}
