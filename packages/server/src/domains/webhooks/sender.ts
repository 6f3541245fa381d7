/**
 * Sends what is in the outbox. A job does it, and several may run at once: each delivery is leased by one of them, and
 * sent again by another if the lease ends. No connection of the database is held while a receiver answers, so a slow one
 * delays nobody else.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Tx } from '../../platform/db/database.ts';
import { enqueue, type JobContext, type JobKind } from '../../platform/jobs/jobs.ts';
import type { Logger } from '../../platform/log.ts';
import { type Outbound, OutboundError } from '../../platform/outbound/outbound.ts';
import * as store from './deliveries.store.ts';
import { messageIdOf } from './events.ts';
import { headersOf, pauseAfter } from './rules.ts';
import type { WebhookSecrets } from './secrets.ts';

export interface SenderTimes {
  /** The timeout of a request, until its answer has arrived. */
  timeoutMs: number;
  /** Longer than a request takes. */
  leaseMs: number;
  /** How often the outbox is looked at while requests are on their way. */
  lookEveryMs: number;
  /** A run ends after this, and goes on as the next one. */
  runMs: number;
}

const TIMES: SenderTimes = { timeoutMs: 10_000, leaseMs: 60_000, lookEveryMs: 1000, runMs: 5 * 60_000 };
/** Requests to one webhook at the same time, and of one run to all. */
const AT_ONCE = 3;
const ALL_AT_ONCE = 60;
/** The limit of an answer, which is not read. */
const ANSWER_MAX_BYTES = 64 * 1024;
const ERROR_MAX = 300;
const DISABLE_AFTER_MS = 24 * 3_600_000;

const NOTICES = {
  gone: 'The receiver answered 410 Gone, so nothing more is sent.',
  failing: 'Every attempt has failed for a day, so nothing more is sent.',
  noSecret: 'There is no secret to sign with. Rotate the secret, and switch the webhook on again.',
};

interface Outcome {
  responseStatus: number | null;
  /** Null if the delivery succeeded. */
  error: string | null;
}

export interface SenderOptions {
  outbound: Outbound;
  secrets: WebhookSecrets;
  times?: Partial<SenderTimes>;
}

export const DELIVER = 'webhooks.deliver';

export function createSender({ outbound, secrets, ...options }: SenderOptions): JobKind {
  const times = { ...TIMES, ...options.times };

  async function send(
    delivery: store.ClaimedDelivery,
    signed: string[],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { url, payload: body } = delivery;
    const message = { id: messageIdOf(delivery.messageId), timestamp: Math.floor(Date.now() / 1000), body };
    try {
      const { status } = await outbound.fetch(url, {
        method: 'POST',
        headers: headersOf(message, signed),
        body,
        signal,
        timeoutMs: times.timeoutMs,
        maxBytes: ANSWER_MAX_BYTES,
        redirects: 0,
      });
      const isTaken = status >= 200 && status < 300;
      return { responseStatus: status, error: isTaken ? null : `The receiver answered ${status}.` };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof OutboundError)) throw error;
      return { responseStatus: null, error: error.message.slice(0, ERROR_MAX) };
    }
  }

  async function deliver(db: Database, token: string, delivery: store.ClaimedDelivery, signal: AbortSignal) {
    const signed = await secrets.list(db, delivery.webhookId);
    if (!signed.length)
      return db.transaction((tx) => store.disableWebhook(tx, delivery.webhookId, NOTICES.noSecret));
    const outcome = await send(delivery, signed, signal);
    signal.throwIfAborted();
    return db.transaction((tx) => record(tx, token, delivery, outcome));
  }

  const kind: JobKind = {
    name: DELIVER,
    lane: 'webhooks',
    async run(_payload, { db, log, signal }: JobContext) {
      const token = randomUUID();
      const sending = new Map<number, Promise<unknown>>();
      const endAt = performance.now() + times.runMs;
      const isOver = () => signal.aborted || performance.now() >= endAt;
      try {
        while (!isOver()) {
          const limit = ALL_AT_ONCE - sending.size;
          const lease = { token, leaseMs: times.leaseMs, atOnce: AT_ONCE, limit };
          const claimed = limit > 0 ? await store.claimDeliveries(db, lease) : [];
          for (const delivery of claimed) {
            const sent = deliver(db, token, delivery, signal)
              .catch((error) => noteTrouble(log, delivery, error, signal))
              .finally(() => sending.delete(delivery.id));
            sending.set(delivery.id, sent);
          }
          if (!sending.size) return await finish(db);
          await Promise.race([...sending.values(), sleep(times.lookEveryMs, undefined, { ref: false })]);
        }
        await Promise.all(sending.values());
        return 'unfinished';
      } finally {
        await store.releaseDeliveries(db, token);
      }
    },
  };
  return kind;

  /** Nothing can be sent now. Another job looks again when something can. */
  async function finish(db: Database) {
    const due = await store.nextDue(db);
    if (due === null) return 'done';
    const at = new Date(Math.max(Date.parse(due), Date.now() + times.lookEveryMs));
    if (await store.isJobWaiting(db, DELIVER, at.toISOString())) return 'done';
    await db.transaction((tx) => enqueue(tx, kind, {}, { runAt: at }));
    return 'done';
  }
}

/** Only logs the error: the lease expires, and then the delivery is sent again. */
function noteTrouble(
  log: Logger,
  { id, webhookId }: store.ClaimedDelivery,
  error: unknown,
  signal: AbortSignal,
) {
  if (!signal.aborted) log.error({ err: error, deliveryId: id, webhookId }, 'a webhook could not be sent');
}

async function record(
  tx: Tx,
  token: string,
  { id, webhookId, attempts }: store.ClaimedDelivery,
  { responseStatus, error }: Outcome,
) {
  if (error === null) {
    await store.finishDelivery(tx, id, token, { status: 'delivered', responseStatus, error });
    return store.noteSuccess(tx, webhookId);
  }
  const delayMs = responseStatus === 410 ? undefined : pauseAfter(attempts);
  if (delayMs === undefined)
    await store.finishDelivery(tx, id, token, { status: 'failed', responseStatus, error });
  else await store.retryDelivery(tx, id, token, { delayMs, responseStatus, error });
  if (responseStatus === 410) return store.disableWebhook(tx, webhookId, NOTICES.gone);
  return store.noteFailure(tx, webhookId, { disableAfterMs: DISABLE_AFTER_MS, notice: NOTICES.failing });
}
