/** The fingerprint of the secret key. It is stored in the database, so that a start with another key is refused. */
import { createHmac } from 'node:crypto';
import { StartupError } from '../../platform/startup-error.ts';

export const fingerprintOf = (key: Buffer) =>
  createHmac('sha256', key).update('fingerprint').digest('base64url');

/** While a secret is being replaced, there are several fingerprints. One of them must be that of the database. */
export function requireSecret(installation: { secretFingerprint: string }, fingerprints: string[]) {
  if (fingerprints.includes(installation.secretFingerprint)) return;
  throw new StartupError(
    'This database was set up with another secret key: set ORIEL_SECRET_KEY to that key, or use the data directory that contains it.',
  );
}
