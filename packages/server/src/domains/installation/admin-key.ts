/** Creates another API key for an admin. Used by an operator who has the database but no valid key. */
import { insertAuditEntries } from '../../platform/audit/store.ts';
import type { Database } from '../../platform/db/database.ts';
import { StartupError } from '../../platform/startup-error.ts';
import { generateApiKey, hashApiKey, insertApiKey } from '../api-keys/index.ts';
import * as store from './store.ts';

export interface AdminKeyOptions {
  /** Username or email of an admin; by default the first one. */
  user: string | undefined;
  /** Called just before the commit. If the process stopped between the commit and this call, nobody would know the key. */
  show(username: string, apiKey: string): void;
}

export const addAdminKey = (db: Database, { user, show }: AdminKeyOptions): Promise<void> =>
  db.transaction(async (tx) => {
    const admin = await store.lockAdmin(tx, user);
    if (!admin) {
      throw new StartupError(
        user === undefined
          ? 'This database has no active admin. Start Oriel with this database once to create the first one.'
          : `There is no active admin with the username or email ${user}. Leave out --user to use the first admin.`,
      );
    }
    const apiKey = generateApiKey();
    const created = await insertApiKey(tx, {
      name: 'Made by admin-key',
      userId: admin.id,
      keyHash: hashApiKey(apiKey),
      deploymentIds: null,
      expiresAt: null,
    });
    await insertAuditEntries(tx, [
      {
        operation: 'adminKey',
        resourceType: 'apiKey',
        resourceId: String(created!.id),
        deploymentId: null,
        // The operator of the database is not one of its users.
        userId: null,
        apiKeyId: null,
        ip: null,
        requestId: null,
        before: null,
        after: created!,
      },
    ]);
    show(admin.username, apiKey);
  });
