/** The mark of a data dir into which a restore is writing, so that nobody uses half of one that was killed. */
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../../startup-error.ts';
import { makeDataDir } from '../embedded/data-dir.ts';

const markOf = (dataDir: string) => join(dataDir, 'restore-unfinished');

export async function markUnfinished(dataDir: string): Promise<void> {
  await makeDataDir(dataDir);
  await writeFile(markOf(dataDir), '', { mode: 0o600, flag: 'wx', flush: true }).catch((error) => {
    // Reports another restore that has made the mark first.
    requireFinished(dataDir);
    throw error;
  });
}

export const unmarkUnfinished = (dataDir: string) => rm(markOf(dataDir), { force: true });

export function requireFinished(dataDir: string) {
  if (!existsSync(markOf(dataDir))) return;
  throw new StartupError(
    `The data dir ${dataDir} holds half of a restore that is running or was killed: if it was killed, restore into another data dir, or remove everything from this one but a secret.key that you put there.`,
  );
}
