/** The secrets of webhooks, sealed in the database. */
import { randomUUID } from 'node:crypto';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import type { Platform } from '../../platform/module.ts';
import type { BoxedColumn } from '../../platform/secrets/box.ts';
import { newSecret } from './rules.ts';
import { endSecrets, insertSecret, listSecrets } from './store.ts';

export const WEBHOOK_SECRET_COLUMN: BoxedColumn = {
  table: 'webhook_secrets',
  column: 'secret',
  keyColumn: 'id',
  holds: 'the secrets of webhooks',
};

export interface WebhookSecrets {
  /** Returns a new secret. The one before still signs for as long as this. */
  add(tx: Tx, webhookId: number, overlapSeconds: number): Promise<string>;
  /** The secrets that sign now, newest first. */
  list(db: Queryable, webhookId: number): Promise<string[]>;
}

export function createWebhookSecrets({ box: boxOf }: Pick<Platform, 'box'>): WebhookSecrets {
  const box = boxOf(WEBHOOK_SECRET_COLUMN);
  return {
    async add(tx, webhookId, overlapSeconds) {
      const [id, secret] = [randomUUID(), newSecret()];
      await endSecrets(tx, webhookId, overlapSeconds);
      await insertSecret(tx, webhookId, { id, secret: box.seal(id, Buffer.from(secret)) });
      return secret;
    },
    list: async (db, webhookId) =>
      (await listSecrets(db, webhookId)).map(({ id, secret }) => box.open(id, secret).toString('utf8')),
  };
}
