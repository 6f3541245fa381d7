/** The installation's secrets: given in the settings, or generated at the first start and stored in the data dir. */
import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from '../startup-error.ts';
import type { Secrets } from './keyring.ts';

const FILE = 'secret.key';
/** An operator renames `secret.key` to this, so that a new secret is generated and the old one is still accepted. */
const PREVIOUS_FILE = 'secret.key.previous';

export interface SecretSettings {
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

export const secretFileOf = (dataDir: string) => join(dataDir, FILE);

export async function loadSecrets(given: SecretSettings, dataDir: string): Promise<LoadedSecrets> {
  const others = await listOtherSecrets(given, dataDir);
  if (given.secretKey) {
    return { values: [given.secretKey, ...others], generatedFile: undefined, discard: async () => {} };
  }
  const { value, ...rest } = await loadOrGenerate(secretFileOf(dataDir));
  return { values: [value, ...others], ...rest };
}

/** Returns nothing if no secret is given, neither in the settings nor in the data dir. */
export async function findSecrets(given: SecretSettings, dataDir: string): Promise<Secrets | undefined> {
  const value = given.secretKey ?? (await readSecret(secretFileOf(dataDir)));
  return value === undefined ? undefined : [value, ...(await listOtherSecrets(given, dataDir))];
}

/** The previous and the next secrets, while the secret is being replaced. */
export async function listOtherSecrets({ secretKey, otherSecretKeys }: SecretSettings, dataDir: string) {
  const previous = secretKey ? undefined : await readSecret(join(dataDir, PREVIOUS_FILE));
  return [...otherSecretKeys, ...(previous === undefined ? [] : [previous])];
}

/** Stores the secret. Fails if the data dir has one already. */
export const storeSecret = (dataDir: string, secret: string) =>
  writeFile(secretFileOf(dataDir), `${secret}\n`, { mode: 0o600, flag: 'wx' });

async function loadOrGenerate(file: string) {
  const value = await readSecret(file);
  if (value !== undefined) return { value, generatedFile: undefined, discard: async () => {} };
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
