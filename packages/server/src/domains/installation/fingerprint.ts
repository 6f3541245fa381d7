/** The fingerprint of the secret key. It is stored in the database, so that a start with another key is refused. */
import { createHmac } from 'node:crypto';
import { createKeyring, type Secrets } from '../../platform/secrets/keyring.ts';
import { StartupError } from '../../platform/startup-error.ts';

export const fingerprintOf = (key: Buffer) =>
  createHmac('sha256', key).update('fingerprint').digest('base64url');

/** In the order of the secrets. */
export const fingerprintsOf = (secrets: Secrets) =>
  createKeyring(secrets).keysFor('installation').map(fingerprintOf);

/** While a secret is being replaced, there are several fingerprints. One of them must be that of the database. */
export function requireSecret(
  installation: { secretFingerprint: string },
  fingerprints: string[],
  /** The file that did not exist, if this start has generated the key. */
  missingFile?: string,
) {
  if (fingerprints.includes(installation.secretFingerprint)) return;
  throw new StartupError(
    missingFile === undefined
      ? 'This database was set up with another secret key: set ORIEL_SECRET_KEY to that key, or use the data dir that holds it as secret.key. If the key is being replaced, the old key must stay (ORIEL_SECRET_KEY_PREVIOUS, or secret.key.previous in the data dir) until the command `rotate-secret` has run. If the key is lost, see "A lost secret key" in docs/operating.md.'
      : `The secret key of this database is missing, because there is no file ${missingFile}: restore that file from the backup, or set ORIEL_SECRET_KEY to the key. It is in secret.key of every copy of the data dir, in secret.key.previous after a replacement, and in backups made --with-secret-key. If it is lost, the commands \`backup\` and \`restore\` with the option --without-secret-key save the rest; see "A lost secret key" in docs/operating.md.`,
  );
}
