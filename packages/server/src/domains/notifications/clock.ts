/**
 * Claims due times. Each notification that is on has one waiting job, at its next due time. The job locks the
 * notification, writes down the run and enqueues the next job, all in one transaction, so that whatever crashes, and
 * however many servers there are, a due time has one run.
 */
import type { Tx } from '../../platform/db/database.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import type { Schedule } from '../../platform/jobs/schedules.ts';
import { listSubscriptions, renewSubscriptions } from './recipients.store.ts';
import * as store from './runs.store.ts';
import { claim } from './schedule.ts';

/** Embed tenants and the main workspace take turns, so each is a sharer of its own. */
interface Turn {
  deploymentId: number;
  /** The content key of the embed tenant. */
  sharer: string | null;
}
type DuePayload = Turn & { notificationId: number };
export type RunPayload = Turn & { runId: number };

export interface Clock {
  /** To be called in the transaction that sets the next due time. */
  schedule(tx: Tx, at: DuePayload, nextDueAt: string | null): Promise<void>;
  job: JobKind<DuePayload>;
  upkeep: Schedule[];
}

/** A schedule must not end because the database was away for long. */
const ATTEMPTS_MAX = 1_000_000;
const KEEP_DAYS = 31;
const BATCH = 500;
const OVERDUE_MAX = 1000;

export function createClock(runJob: JobKind<RunPayload>): Clock {
  const job: JobKind<DuePayload> = {
    name: 'notifications.due',
    lane: 'clock',
    maxAttempts: ATTEMPTS_MAX,
    async run({ deploymentId, notificationId }, { db }) {
      await db.transaction(async (tx) => {
        const due = await store.lockDue(tx, notificationId);
        const now = new Date();
        // Its time was changed, and the job of the new time comes later.
        if (!due || new Date(due.nextDueAt) > now) return;
        const { run, missed, next } = claim(due, new Date(due.nextDueAt), now);
        const turn = { deploymentId, sharer: due.embedTenant };
        const of = { notificationId, requestedBy: null, isPreview: false };
        if (missed) {
          const others = missed.count > 1 ? `, with ${missed.count - 1} more after it` : '';
          const reason = `No server ran when it was due${others}.`;
          await store.insertRun(tx, { ...of, dueAt: missed.first.toISOString(), state: 'missed', reason });
        }
        if (run) {
          const isBusy = await store.hasUnfinishedRun(tx, notificationId);
          const made = await store.insertRun(tx, {
            ...of,
            dueAt: run.toISOString(),
            state: isBusy ? 'missed' : 'waiting',
            reason: isBusy ? 'The run before it had not ended.' : null,
          });
          if (made && !isBusy) await enqueue(tx, runJob, { ...turn, runId: made.id });
        }
        const nextDueAt = next?.toISOString() ?? null;
        await store.updateNextDue(tx, notificationId, nextDueAt);
        await schedule(tx, { ...turn, notificationId }, nextDueAt);
      });
    },
  };

  async function schedule(tx: Tx, at: DuePayload, nextDueAt: string | null) {
    if (nextDueAt !== null) await enqueue(tx, job, at, { runAt: new Date(nextDueAt) });
  }

  /** Deletes old runs. Also finds notifications whose job is lost, such as after a restore without the queue. */
  const upkeep: JobKind = {
    name: 'notifications.upkeep',
    async run(_payload, { db, signal }) {
      for (const { id, deploymentId, embedTenant } of await store.listOverdue(db, OVERDUE_MAX)) {
        const payload = { deploymentId, sharer: embedTenant, notificationId: id };
        await db.transaction((tx) => enqueue(tx, job, payload));
      }
      while (!signal.aborted && (await store.deleteOldRuns(db, KEEP_DAYS, BATCH)) === BATCH);
    },
  };

  /** Gives subscriptions what their newest session gives them, before old sessions and revocations are deleted. */
  const renewal: JobKind = {
    name: 'notifications.renew-subscriptions',
    async run(_payload, { db, signal }) {
      for (let after = 0; !signal.aborted; ) {
        const ids = await listSubscriptions(db, after, BATCH);
        if (!ids.length) return;
        await renewSubscriptions(db, { ids });
        after = ids.at(-1)!;
      }
    },
  };

  return {
    schedule,
    job,
    upkeep: [
      { name: upkeep.name, cron: '*/10 * * * *', kind: upkeep },
      { name: renewal.name, cron: '47 * * * *', kind: renewal },
    ],
  };
}
