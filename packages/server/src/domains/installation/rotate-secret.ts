/** Replaces the installation's secret in the database, while servers run that have both the old and the new one. */
import type { Database } from '../../platform/db/database.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import type { Keyring } from '../../platform/secrets/keyring.ts';
import { requireSecretsOf, resealAll } from '../../platform/secrets/reseal.ts';
import { StartupError } from '../../platform/startup-error.ts';
import { fingerprintOf, requireSecret } from './fingerprint.ts';
import * as store from './store.ts';

/** Returns how many values it sealed. Afterwards nothing in the database needs any but the newest secret. */
export async function rotateSecret(
  db: Database,
  { keyring, columns }: { keyring: Keyring; columns: BoxedColumn[] },
): Promise<number> {
  const fingerprints = keyring.keysFor('installation').map(fingerprintOf);
  const installation = await store.findInstallation(db);
  if (!installation) throw new StartupError('This database was not set up yet: start Oriel on it once.');
  requireSecret(installation, fingerprints);
  await requireSecretsOf(db, keyring, columns);
  const count = await resealAll(db, keyring, columns);
  // Last: until here a start takes the old secret for the one of the database, and so does another run of this.
  await store.updateFingerprint(db, fingerprints[0]!);
  return count;
}
