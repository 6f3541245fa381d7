/** Replaces the secret of the installation in the database, while servers run with both the old and the new secret. */
import type { Database } from '../../platform/db/database.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import type { Keyring } from '../../platform/secrets/keyring.ts';
import { requireSecretsOf, resealAll } from '../../platform/secrets/reseal.ts';
import { StartupError } from '../../platform/startup-error.ts';
import { fingerprintOf, requireSecret } from './fingerprint.ts';
import * as store from './store.ts';

/** Returns the number of values that were sealed again. After this, the database needs only the newest secret. */
export async function rotateSecret(
  db: Database,
  { keyring, columns }: { keyring: Keyring; columns: readonly BoxedColumn[] },
): Promise<number> {
  const fingerprints = keyring.keysFor('installation').map(fingerprintOf);
  const installation = await store.findInstallation(db);
  if (!installation)
    throw new StartupError('This database is not set up yet: start Oriel with this database once.');
  requireSecret(installation, fingerprints);
  await requireSecretsOf(db, keyring, columns);
  if (new Set(fingerprints).size === 1) {
    throw new StartupError(
      'No previous secret key is given, so no key was replaced: set ORIEL_SECRET_KEY_PREVIOUS, or keep the old key as secret.key.previous in the data dir, as "Replacing the secret key" in docs/operating.md describes.',
    );
  }
  const count = await resealAll(db, keyring, columns);
  // This comes last: a server that has only the new secret must not start before all values are sealed with it.
  await store.updateFingerprint(db, fingerprints[0]!);
  return count;
}
