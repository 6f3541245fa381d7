/** The installation's secret: given, or generated at first start and kept in the data dir. */
import { hkdfSync, randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from './startup-error.ts';

const FILE = 'secret.key';

export async function loadSecretKey(dataDir: string): Promise<string> {
  const file = join(dataDir, FILE);
  const fresh = `${file}.new-${process.pid}`;
  try {
    return await readSecret(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // Written beside and linked into place: nobody sees half a secret, and of several starts one wins.
  await writeFile(fresh, `${randomBytes(48).toString('base64url')}\n`, { mode: 0o600 });
  await link(fresh, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  await rm(fresh);
  return readSecret(file);
}

async function readSecret(file: string): Promise<string> {
  const secret = (await readFile(file, 'utf8')).trim();
  if (secret.length < 32) {
    throw new StartupError(
      `The secret in ${file} is damaged: restore that file from a backup, or set ORIEL_SECRET_KEY.`,
    );
  }
  return secret;
}

/** A key of its own for each purpose, so that none can stand in for another. */
export const deriveKey = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'oriel', purpose, 32));
