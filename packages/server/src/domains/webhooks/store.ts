import type { WebhookEvent } from '@oriel/contract';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { sql } from '../../platform/db/sql.ts';
import type { PageById } from '../../platform/http/pages.ts';

export interface WebhookRow {
  id: number;
  name: string;
  url: string;
  events: ('*' | WebhookEvent)[];
  isEnabled: boolean;
  notice: string | null;
  failingSince: string | null;
  previousSecretEndsAt: string | null;
  createdAt: string;
  updatedAt: string;
}

export type WantedWebhook = Pick<
  WebhookRow,
  'name' | 'url' | 'events' | 'isEnabled' | 'notice' | 'failingSince'
>;

const COLUMNS = sql`
  w.id, w.name, w.url, w.events, w.is_enabled as "isEnabled", w.notice, w.failing_since as "failingSince",
  (select max(s.ends_at) from webhook_secrets s where s.webhook_id = w.id and s.ends_at > now())
    as "previousSecretEndsAt",
  w.created_at as "createdAt", w.updated_at as "updatedAt"`;

export const listWebhooks = (db: Queryable, page: PageById) =>
  db.many<WebhookRow>(sql`
    select ${COLUMNS} from webhooks w where w.id > ${page.afterId} order by w.id limit ${page.limit}`);

export const findWebhook = (db: Queryable, id: number) =>
  db.maybeOne<WebhookRow>(sql`select ${COLUMNS} from webhooks w where w.id = ${id}`);

export const lockWebhook = (tx: Tx, id: number) =>
  tx.maybeOne<WebhookRow>(sql`select ${COLUMNS} from webhooks w where w.id = ${id} for no key update`);

/** One transaction at a time creates webhooks, so that their number is exact. */
export const lockCreation = (tx: Tx) =>
  tx.run(sql`select pg_advisory_xact_lock(hashtextextended('creation of webhooks', 0))`);

export const countWebhooks = async (db: Queryable) =>
  (await db.one<{ count: number }>(sql`select count(*) from webhooks`)).count;

export const insertWebhook = (tx: Tx, webhook: WantedWebhook) =>
  tx.one<WebhookRow>(sql`
    insert into webhooks as w (name, url, events, is_enabled)
    values (${webhook.name}, ${webhook.url}, ${webhook.events}, ${webhook.isEnabled})
    returning ${COLUMNS}`);

export const updateWebhook = (tx: Tx, id: number, webhook: WantedWebhook) =>
  tx.one<WebhookRow>(sql`
    update webhooks w
    set name = ${webhook.name}, url = ${webhook.url}, events = ${webhook.events}, is_enabled = ${webhook.isEnabled},
        notice = ${webhook.notice}, failing_since = ${webhook.failingSince}, updated_at = now()
    where w.id = ${id} returning ${COLUMNS}`);

export const deleteWebhook = (tx: Tx, id: number) =>
  tx.maybeOne<WebhookRow>(sql`delete from webhooks w where w.id = ${id} returning ${COLUMNS}`);

export interface SecretRow {
  id: string;
  secret: Buffer;
}

/** The secrets that sign now, newest first. */
export const listSecrets = (db: Queryable, webhookId: number) =>
  db.many<SecretRow>(sql`
    select id, secret from webhook_secrets where webhook_id = ${webhookId} and (ends_at is null or ends_at > now())
    order by created_at desc, id`);

export const insertSecret = (tx: Tx, webhookId: number, { id, secret }: SecretRow) =>
  tx.run(sql`
    insert into webhook_secrets (id, webhook_id, secret, created_at)
    values (${id}, ${webhookId}, ${secret}, clock_timestamp())`);

/** The newest one signs for as long as this. Those before it end now. */
export const endSecrets = async (tx: Tx, webhookId: number, overlapSeconds: number) => {
  await tx.run(sql`
    delete from webhook_secrets where webhook_id = ${webhookId} and ends_at is not null`);
  await tx.run(sql`
    update webhook_secrets set ends_at = now() + make_interval(secs => ${overlapSeconds})
    where webhook_id = ${webhookId}`);
};

/** Deletes the secrets of a database whose secret key is lost. */
export const forgetWebhookSecrets = async (tx: Tx) => {
  await tx.run(sql`delete from webhook_secrets`);
  await tx.run(sql`
    update webhooks set is_enabled = false,
      notice = 'The secret was lost with the secret key of the server. Rotate the secret, and switch the webhook on again.'`);
};
