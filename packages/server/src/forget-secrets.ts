/** Removes from a restored database what depends on a lost secret key, so that it can be used with a new key. */
import { pino } from 'pino';
import { clearEnvVariables } from './domains/env-vars/index.ts';
import { clearGitSecrets } from './domains/git-hosts/index.ts';
import { updateFingerprint } from './domains/installation/index.ts';
import { clearModelSyncSecrets } from './domains/model-syncs/index.ts';
import { clearOAuthSecrets } from './domains/oauth-integrations/index.ts';
import { forgetWebhookSecrets } from './domains/webhooks/index.ts';
import { restartSeals } from './platform/audit/seals.store.ts';
import type { ConnectionSettings } from './platform/db/connection.ts';
import { openDatabase } from './platform/db/database.ts';

/** The variables whose values are gone. Their names are kept. */
export type LostVariables = { deploymentId: number; names: string[] }[];

/** The keys of embed tokens are gone after every restore. What is signed with the secret key ends with it. */
export async function forgetSecrets(
  connection: ConnectionSettings,
  newFingerprint: string,
): Promise<LostVariables> {
  const db = openDatabase(connection, pino({ level: 'silent' }), { poolSize: 1 });
  try {
    return await db.transaction(async (tx) => {
      const lost = await clearEnvVariables(tx);
      await clearOAuthSecrets(tx);
      await clearGitSecrets(tx);
      await clearModelSyncSecrets(tx);
      await forgetWebhookSecrets(tx);
      await restartSeals(tx);
      await updateFingerprint(tx, newFingerprint);
      return lost;
    });
  } finally {
    await db.end();
  }
}
