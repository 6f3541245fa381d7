/**
 * What becomes of one delivery: refused, claimed, sent, or to be tried again. What is being sent is written down before, so
 * that nobody gets a run twice, whatever crashes.
 */
import type { Database, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { backoff, type JobContext } from '../../platform/jobs/jobs.ts';
import { DrawingLostError } from '../renderings/index.ts';
import type { TenantSettingsRow } from '../tenant-settings/index.ts';
import { type Channels, type Copy, NotSentError } from './channels.ts';
import { isMet } from './conditions.ts';
import { NoReaderError, type Reader } from './readers.ts';
import * as store from './runs.store.ts';
import { SKIP_REASONS } from './skip-reasons.ts';

/** What was drawn may not be what a reader sees now, so they are put into groups again. */
export class ChangedError extends Error {
  constructor() {
    super('The rights of the reader or the data model changed while it was drawn.');
  }
}

export interface DeliveringOptions {
  channels: Channels;
  linkOf(run: store.RunRow, delivery: store.DeliveryRow, settings: TenantSettingsRow): string | null;
  unsubscribeUrlOf(run: store.RunRow, delivery: store.DeliveryRow): string | null;
  /** For tests. */
  retryMs?: number;
}

const SEND_ATTEMPTS_MAX = 6;
const RETRY_MS = 60_000;
/** How long copies wait for their turn while their embed tenant has too many messages. */
const DELAYED_MAX_MS = 24 * 60 * 60_000;
const REASON_MAX = 300;

export type DeliverySender = ReturnType<typeof createDeliverySender>;

export function createDeliverySender({
  channels,
  linkOf,
  unsubscribeUrlOf,
  retryMs = RETRY_MS,
}: DeliveringOptions) {
  const pauseAfter = (attempts: number) => backoff(attempts, retryMs);

  function channelOf({ type }: store.DeliveryRow) {
    return type === 'SLACK' ? channels.slack : type === 'WEBHOOK' ? undefined : channels.mail;
  }

  /** Ends the delivery, or lets it be retried, because of this error. Rethrows errors that are not about the reader. */
  async function refuse(db: Database, delivery: store.DeliveryRow, error: unknown) {
    if (error instanceof NoReaderError)
      return store.endDelivery(db, delivery.id, { status: 'skipped', reason: error.message });
    if (!(error instanceof ApiError) && !(error instanceof ChangedError)) throw error;
    if (isTemporary(error) && delivery.attempts < SEND_ATTEMPTS_MAX)
      return store.retryDelivery(db, delivery.id, pauseAfter(delivery.attempts + 1), error.message, 1);
    return store.endDelivery(db, delivery.id, { status: 'failed', reason: error.message });
  }

  /**
   * Judges the condition and claims the message, in one transaction. Returns false if it is not to be sent now. A condition
   * counts as told only once a message was sent (`arrived`): a copy that failed, or that waits, is judged again.
   */
  async function claim(
    tx: Tx,
    run: store.RunRow,
    delivery: store.DeliveryRow,
    value: number | null,
    perHour: number,
  ): Promise<boolean> {
    const skip = async (reason: string) => {
      await store.endDelivery(tx, delivery.id, { status: 'skipped', reason });
      return false;
    };
    if (run.condition && isConditional(run)) {
      const before = await store.lockCondition(tx, run.notificationId, delivery.target);
      const isTrue = isMet(run.condition, value, before?.value ?? null);
      if (!isTrue || before?.isTrue) {
        await store.setCondition(tx, run.notificationId, delivery.target, { isTrue, value });
        return skip(isTrue ? SKIP_REASONS.metBefore : SKIP_REASONS.notMet);
      }
    }
    if (await store.claimDelivery(tx, delivery.id, perHour)) return true;
    if (perHour === 0) return skip('The settings of the account let the embed tenant have no messages.');
    if (Date.now() - Date.parse(run.createdAt) > DELAYED_MAX_MS)
      return skip('The embed tenant has had its messages of each hour since.');
    const delayMs = await store.findRoomInMs(tx, delivery.id);
    const reason = 'The embed tenant has had its messages of this hour, so it waits for the next.';
    await store.retryDelivery(tx, delivery.id, delayMs, reason);
    return false;
  }

  /** It was sent. An alert is not sent again while its condition stays true. Returns whether a problem is over. */
  async function arrived(tx: Tx, run: store.RunRow, { id, target }: store.DeliveryRow, value: number | null) {
    const hadProblem = await store.endSent(tx, id);
    if (isConditional(run)) await store.setCondition(tx, run.notificationId, target, { isTrue: true, value });
    return hadProblem;
  }

  interface ToSend {
    delivery: store.DeliveryRow;
    reader: Reader;
    /** The value of the condition. */
    value: number | null;
    settings: TenantSettingsRow;
  }

  /** Sends what was drawn, if it is to be sent now. */
  async function deliver(
    drawn: Pick<Copy, 'run' | 'title' | 'rendering'>,
    { delivery, reader, value, settings }: ToSend,
    { db, log, signal }: JobContext,
  ) {
    const { run } = drawn;
    const perHour = settings.embedNotificationsPerHour;
    // Most are claimed by this one statement. What is left needs a transaction that says why it is not sent now.
    const isClaimed =
      (!isConditional(run) && (await store.claimDelivery(db.writes, delivery.id, perHour))) ||
      (await db.transaction((tx) => claim(tx, run, delivery, value, perHour)));
    if (!isClaimed) return;
    const copy: Copy = {
      ...drawn,
      link: linkOf(run, delivery, settings),
      unsubscribeUrl: unsubscribeUrlOf(run, delivery),
    };
    const end = (reason: string) => store.endDelivery(db, delivery.id, { status: 'failed', reason });
    if (delivery.type === 'WEBHOOK')
      return db.transaction(async (tx) => {
        if (await channels.webhooks.add(tx, copy, delivery)) return arrived(tx, run, delivery, value);
        const reason = 'The webhook is switched off.';
        await store.endDelivery(tx, delivery.id, { status: 'failed', reason });
      });
    const channel = channelOf(delivery);
    if (!channel)
      return end(
        delivery.type === 'SLACK'
          ? 'This server has no token for Slack: set ORIEL_SLACK_TOKEN.'
          : 'This server sends no mail: set ORIEL_SMTP_URL.',
      );
    try {
      await channel.send(copy, delivery, reader, signal);
    } catch (error) {
      if (!(error instanceof NotSentError))
        log.error({ err: error, deliveryId: delivery.id }, 'a copy could not be sent');
      return note(
        db,
        run,
        delivery,
        error instanceof NotSentError ? error : new NotSentError('It could not be sent.'),
      );
    }
    // If this fails, the job does: the next attempt leaves the delivery as unknown, and does not send it again.
    const hadProblem = isConditional(run)
      ? await db.transaction((tx) => arrived(tx, run, delivery, value))
      : await store.endSent(db.writes, delivery.id);
    if (hadProblem) await setProblem(db, run, delivery, null);
  }

  async function note(
    db: Database,
    run: store.RunRow,
    delivery: store.DeliveryRow,
    { message, isPermanent, mayBeSent }: NotSentError,
  ) {
    const reason = message.slice(0, REASON_MAX);
    const attempts = delivery.attempts + 1;
    if (mayBeSent) return store.endDelivery(db, delivery.id, { status: 'unknown', reason });
    if (!isPermanent && attempts < SEND_ATTEMPTS_MAX)
      return store.retryDelivery(db, delivery.id, pauseAfter(attempts), reason);
    await store.endDelivery(db, delivery.id, { status: 'failed', reason });
    await setProblem(db, run, delivery, reason);
  }

  return { channelOf, refuse, deliver };
}

/** A preview is sent whatever the condition says. */
export const isConditional = (run: Pick<store.RunRow, 'condition' | 'isPreview'>) =>
  run.condition !== null && !run.isPreview;

async function setProblem(
  db: Database,
  run: store.RunRow,
  { recipientId }: store.DeliveryRow,
  problem: string | null,
) {
  // The condition may have been taken away since the run began.
  const isHidden = run.isConditional || isConditional(run);
  if (recipientId !== null) await store.setProblem(db, recipientId, problem, isHidden);
}

export const isTemporary = (error: ApiError | ChangedError) =>
  error instanceof ChangedError ||
  error instanceof DrawingLostError ||
  error.statusCode >= 500 ||
  error.statusCode === 429;
