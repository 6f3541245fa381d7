/** `npm run rotate-secret`: seals everything in the database with the new secret key, while servers run. */
import { createModules } from './app.ts';
import { besideServer } from './beside-server.ts';
import { readArgs } from './commands.ts';
import type { Config } from './config.ts';
import { findInstallation, requireSecrets, rotateSecret } from './domains/installation/index.ts';
import { openPlatform } from './open-platform.ts';
import { createMetrics } from './platform/http/metrics.ts';
import { createKeyring } from './platform/secrets/keyring.ts';
import { StartupError } from './platform/startup-error.ts';

/** Returns how many values it sealed. */
export async function rotateSecretKey(config: Config, args: string[]): Promise<number> {
  readArgs('rotate-secret', args);
  if (config.hasNextSecretKey) {
    throw new StartupError(
      'ORIEL_SECRET_KEY_NEXT is set, so the servers still use the old key. First set ORIEL_SECRET_KEY to the new key and ORIEL_SECRET_KEY_PREVIOUS to the old one, here and on every server.',
    );
  }
  return besideServer(config, async ({ connection, db, dataDir, log, shutdown }) => {
    const keyring = createKeyring(await requireSecrets(await findInstallation(db), config, dataDir));
    // The modules are created because they know which columns hold sealed values. They are not started.
    const pools = { dbConnections: 2, dbEssentialConnections: 2 };
    const platform = openPlatform({
      connection,
      pools,
      keyring,
      publicUrl: '',
      allowPrivateRemotes: false,
      log,
      metrics: createMetrics(),
      shutdown,
    });
    const { list } = createModules(platform, { ...config, dataDir });
    for (const { stop } of list) if (stop) shutdown.add('a module', stop);
    return rotateSecret(db, { keyring, columns: platform.boxedColumns });
  });
}
