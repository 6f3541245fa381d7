/** The secrets for commands beside a server, which never make one. */
import type { Secrets } from '../../platform/secrets/keyring.ts';
import {
  findSecrets,
  listOtherSecrets,
  type SecretSettings,
  secretFileOf,
} from '../../platform/secrets/load-secrets.ts';
import { StartupError } from '../../platform/startup-error.ts';
import { fingerprintsOf, requireSecret } from './fingerprint.ts';

/**
 * Returns the secrets. If the secret in use is missing, throws the error of a start, which would make a new one only
 * while the old one is still given.
 */
export async function requireSecrets(
  installation: { secretFingerprint: string } | undefined,
  given: SecretSettings,
  dataDir: string,
): Promise<Secrets> {
  const found = await findSecrets(given, dataDir);
  if (found) return found;
  const file = secretFileOf(dataDir);
  const others = await listOtherSecrets(given, dataDir);
  if (installation) {
    requireSecret(
      installation,
      others.flatMap((secret) => fingerprintsOf([secret])),
      file,
    );
  }
  throw new StartupError(
    `There is no secret in ${file}: start Oriel once to create one, or set ORIEL_SECRET_KEY to the value that the server has.`,
  );
}
