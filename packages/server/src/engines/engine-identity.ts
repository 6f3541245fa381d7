/**
 * What identifies an engine to clouds and other services: files with tokens, in a folder that only this engine reads, and
 * environment variables that name the files.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeDataDir } from '../platform/db/embedded/data-dir.ts';
import type { Logger } from '../platform/log.ts';
import { giveTo, type ProcessUser } from '../platform/processes/process-user.ts';

export interface EngineIdentity {
  /** If it changes, queries get another process. */
  version: string;
  variablesIn(folder: string): Record<string, string>;
  /** Fresh contents of the files, by their names. Files with other names are removed. */
  makeFiles(folder: string): Promise<ReadonlyMap<string, string>>;
  /** How long the files are used before they are written again. */
  renewMs: number;
}

export interface IdentityFiles {
  folder: string;
  variables: Record<string, string>;
  /** Removes the folder. */
  end(): Promise<void>;
}

interface Place {
  dataDir: string;
  /** The user that runs the engine, if it is not our own. */
  user: ProcessUser | undefined;
  log: Logger;
}

const RETRY_MS = 60_000;
/** Files are renewed more often than this, so nobody uses a folder that did not change for so long. */
const ABANDONED_MS = 6 * 3_600_000;

/** Writes the files, and writes them again before they end. */
export async function giveIdentity(identity: EngineIdentity, place: Place): Promise<IdentityFiles> {
  const { user, log } = place;
  const folder = await makeFolder(place);
  let timer: NodeJS.Timeout | undefined;
  let isEnded = false;
  let writing: Promise<void> = Promise.resolve();

  const renewIn = (ms: number) => {
    timer = setTimeout(() => {
      writing = writeAll(identity, folder, user).then(
        () => renewIn(identity.renewMs),
        (error) => {
          log.warn({ err: error }, 'the tokens of an engine could not be renewed; trying again');
          renewIn(Math.min(RETRY_MS, identity.renewMs));
        },
      );
    }, ms).unref();
    if (isEnded) clearTimeout(timer);
  };
  const end = async () => {
    isEnded = true;
    clearTimeout(timer);
    await writing;
    await rm(folder, { recursive: true, force: true });
  };

  try {
    await writeAll(identity, folder, user);
  } catch (error) {
    await end();
    throw error;
  }
  renewIn(identity.renewMs);
  return { folder, variables: identity.variablesIn(folder), end };
}

const parentOf = (dataDir: string) => join(dataDir, 'engine-identities');

async function makeFolder({ dataDir, user }: Place): Promise<string> {
  await makeDataDir(dataDir);
  const parent = parentOf(dataDir);
  await mkdir(parent, { recursive: true });
  await chmod(parent, user ? 0o711 : 0o700);
  await removeAbandoned(parent);
  const folder = join(parent, randomUUID());
  await mkdir(folder, { mode: 0o700 });
  if (user) await giveTo(user, folder);
  return folder;
}

/** A server that was killed leaves the folders of its engines. */
async function removeAbandoned(parent: string) {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    // Another server may remove it first.
    const changed = await stat(folder).catch(() => undefined);
    if (changed && Date.now() - changed.mtimeMs > ABANDONED_MS) {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

async function writeAll(identity: EngineIdentity, folder: string, user: ProcessUser | undefined) {
  const files = await identity.makeFiles(folder);
  for (const [name, text] of files) {
    // Writes a draft and renames it, so that no engine reads half a file. Drafts begin with a dot, unlike files.
    const draft = join(folder, `.${name}`);
    await rm(draft, { force: true });
    await writeFile(draft, text, { mode: 0o400 });
    if (user) await giveTo(user, draft);
    await rename(draft, join(folder, name));
  }
  for (const name of await readdir(folder))
    if (!files.has(name)) await rm(join(folder, name), { force: true });
}
