/** Another API key for an admin, for who holds the database itself and has no key any more. */
import { insertAuditEntries } from '../../platform/audit/store.ts';
import type { Database } from '../../platform/db/database.ts';
import { StartupError } from '../../platform/startup-error.ts';
import { generateApiKey, hashApiKey, insertApiKey } from '../api-keys/index.ts';
import * as store from './store.ts';

export interface AdminKeyOptions {
  /** Username or email of an admin; by default the first one. */
  user: string | undefined;
  /** Called just before the key is kept: were we cut off after that, nobody would know it. */
  show(username: string, apiKey: string): void;
}

export const addAdminKey = (db: Database, { user, show }: AdminKeyOptions): Promise<void> =>
  db.transaction(async (tx) => {
    const admin = await store.lockAdmin(tx, user);
    if (!admin) {
      throw new StartupError(
        user === undefined
          ? 'This database holds no active admin: start Oriel on it once, which makes the first one.'
          : `There is no active admin with the username or email ${user}: leave --user out to take the first one.`,
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
        // Whoever holds the database is none of its users.
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
