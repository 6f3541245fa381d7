/** What is stored of the secret key, so that a start with another one is noticed. */
import { createHmac } from 'node:crypto';
import { StartupError } from '../../platform/startup-error.ts';

export const fingerprintOf = (key: Buffer) =>
  createHmac('sha256', key).update('fingerprint').digest('base64url');

/** While a secret is being replaced, any of those that are given may be the one of the database. */
export function requireSecret(installation: { secretFingerprint: string }, fingerprints: string[]) {
  if (fingerprints.includes(installation.secretFingerprint)) return;
  throw new StartupError(
    'This database was set up with another secret key: set ORIEL_SECRET_KEY to that one, or use the data dir that holds it.',
  );
}
