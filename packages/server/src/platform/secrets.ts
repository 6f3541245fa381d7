/** The installation's secret: given, or generated at first start and kept in the data dir. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StartupError } from './startup-error.ts';

const FILE = 'secret.key';

export interface SecretKey {
  value: string;
  /** Takes back a secret that this start generated. */
  discard(): Promise<void>;
}

export async function loadSecretKey(dataDir: string): Promise<SecretKey> {
  const file = join(dataDir, FILE);
  const fresh = `${file}.new-${process.pid}`;
  try {
    return { value: await readSecret(file), discard: async () => {} };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  // Written beside and linked into place: nobody sees half a secret, and of several starts one wins.
  await writeFile(fresh, `${randomBytes(48).toString('base64url')}\n`, { mode: 0o600 });
  const ours = await link(fresh, file).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
      return false;
    },
  );
  await rm(fresh);
  return {
    value: await readSecret(file),
    discard: async () => void (ours && (await rm(file, { force: true }))),
  };
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

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function encrypt(key: Buffer, plain: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  const sealed = [cipher.update(plain), cipher.final()];
  return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]);
}

/** Throws where the text was altered, or encrypted with another key. */
export function decrypt(key: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
}
