/** The installation's secrets: given in the settings, or generated at the first start and stored in the data dir. */
import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../startup-error.ts';
import type { Secrets } from './keyring.ts';

const FILE = 'secret.key';
/** An operator renames `secret.key` to this, so that a new secret is generated and the old one is still accepted. */
const PREVIOUS_FILE = 'secret.key.previous';

export interface GivenSecrets {
  secretKey: string | undefined;
  /** The previous and the next secret key, while the key is being replaced. */
  otherSecretKeys: string[];
}

export interface LoadedSecrets {
  /** The secret in use comes first. */
  values: Secrets;
  /** The file of the secret in use, if this start generated it. */
  generatedFile: string | undefined;
  /** Deletes the secret if this start generated it. */
  discard(): Promise<void>;
}

export async function loadSecrets(
  { secretKey, otherSecretKeys }: GivenSecrets,
  dataDir: string,
  { mayGenerate = true } = {},
): Promise<LoadedSecrets> {
  if (secretKey) {
    return { values: [secretKey, ...otherSecretKeys], generatedFile: undefined, discard: async () => {} };
  }
  const previous = await readSecret(join(dataDir, PREVIOUS_FILE));
  const { value, ...rest } = await loadOrGenerate(join(dataDir, FILE), mayGenerate);
  return { values: [value, ...otherSecretKeys, ...(previous === undefined ? [] : [previous])], ...rest };
}

/** Returns nothing if no secret is given, neither in the settings nor in the data dir. */
export async function findSecrets(given: GivenSecrets, dataDir: string): Promise<Secrets | undefined> {
  const isGiven = given.secretKey !== undefined || (await readSecret(join(dataDir, FILE))) !== undefined;
  return isGiven ? (await loadSecrets(given, dataDir, { mayGenerate: false })).values : undefined;
}

/** The data dir must have none yet. */
export const storeSecret = (dataDir: string, secret: string) =>
  writeFile(join(dataDir, FILE), `${secret}\n`, { mode: 0o600, flag: 'wx' });

async function loadOrGenerate(file: string, mayGenerate: boolean) {
  const value = await readSecret(file);
  if (value !== undefined) return { value, generatedFile: undefined, discard: async () => {} };
  if (!mayGenerate) {
    throw new StartupError(
      `There is no secret in ${file}: start Oriel once to create one, or set ORIEL_SECRET_KEY to the value that the server has.`,
    );
  }
  // Written to another file and then linked, so that nobody reads half a secret, and only one of several starts wins.
  const fresh = `${file}.new-${process.pid}`;
  await writeFile(fresh, `${randomBytes(48).toString('base64url')}\n`, { mode: 0o600 });
  const isOurs = await link(fresh, file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
  await rm(fresh);
  return {
    value: (await readSecret(file))!,
    generatedFile: isOurs ? file : undefined,
    discard: async () => void (isOurs && (await rm(file, { force: true }))),
  };
}

async function readSecret(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  const secret = text?.trim();
  if (secret !== undefined && secret.length < 32) {
    throw new StartupError(
      `The secret in ${file} is damaged: restore that file from a backup, or set ORIEL_SECRET_KEY.`,
    );
  }
  return secret;
}
