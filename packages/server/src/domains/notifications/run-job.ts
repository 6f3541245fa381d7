/**
 * Runs a notification: checks that it can still be shown, finds out who reads it, groups readers with equal rows, renews
 * those rows, draws once for each group, and sends. A long run is done in turns.
 */
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { enqueue, type JobContext, type JobKind } from '../../platform/jobs/jobs.ts';
import type { ReadPublished } from '../dashboards/index.ts';
import type { Events } from '../webhooks/index.ts';
import type { RunPayload } from './clock.ts';
import { type CopyOptions, createCopies, type Edition, RunError, type Turn } from './copies.ts';
import { createDeliverySender, type DeliveringOptions, isConditional, isTemporary } from './delivering.ts';
import { createGroups, type Group, type GroupOptions } from './groups.ts';
import { missingControls } from './notifications.ts';
import { NoReaderError, ownerOf } from './readers.ts';
import { renewSubscriptions } from './recipients.store.ts';
import * as store from './runs.store.ts';
import { type Board, boardOf } from './widget-queries.ts';

export type RunOptions = GroupOptions &
  CopyOptions &
  DeliveringOptions & {
    readPublished: ReadPublished;
    events: Events;
    /** Undefined if this server sends no mail. */
    tellOwner?: JobKind<RunPayload> | undefined;
  };

const ATTEMPTS_MAX = 20;
const WARMED_MAX = 50;
const STOPPED = 'The server stopped while it was sent, so it is not sent again.';
const GIVEN_UP =
  'It was begun several times, and the server failed each time. The log of the server says why.';

/** How long a run works before others take their turn. Tests shorten it. */
export const TURN = { ms: 30_000 };

/** Over after the time, but not before something was done, so that each turn brings the run on. */
function createTurn(ms: number): Turn {
  const end = performance.now() + ms;
  let done = 0;
  return {
    count: () => void done++,
    isOver: () => done > 0 && performance.now() > end,
  };
}

export function createRunJob(options: RunOptions): JobKind<RunPayload> {
  const { tenantSettings, events, tellOwner } = options;
  const delivering = createDeliverySender(options);
  const groups = createGroups(options, delivering);
  const copies = createCopies(options, groups, delivering);

  const kind: JobKind<RunPayload> = {
    name: 'notifications.run',
    lane: 'notifications',
    maxAttempts: ATTEMPTS_MAX,
    timeLimitMs: 60 * 60_000,
    async run({ runId }, context) {
      const { db, signal, attempt } = context;
      const run = await store.findRun(db, runId);
      if (!run || !['waiting', 'running'].includes(run.state)) return 'done';
      try {
        return await execute(run, context);
      } catch (error) {
        if (signal.aborted) throw error;
        const reason = error instanceof RunError ? error.message : undefined;
        if (reason === undefined && attempt < ATTEMPTS_MAX) throw error;
        await finish(db, run, { state: 'failed', reason: reason ?? GIVEN_UP });
      }
      return 'done';
    },
  };
  return kind;

  /** Does one turn of the run. Other runs take their turn before the next one. */
  async function execute(run: store.RunRow, context: JobContext): Promise<'done' | 'unfinished'> {
    const { db } = context;
    await store.beginRun(db, run.id, isConditional(run));
    await store.giveUpSending(db, run.id, STOPPED);
    const version = await options.readPublished(db, run.dashboardId);
    if (!version) throw new RunError('The dashboard is not published any more.');
    // Another version was just published, to which the owner may not have agreed.
    if (version.number !== run.versionNumber) return 'unfinished';
    const [missing] = missingControls(version, run);
    if (missing) throw new RunError(missing.message);
    const board = boardOf(version, run);
    const isSent = run.isPreview || run.notificationEnabled;
    await db.transaction((tx) =>
      run.isPreview ? store.insertOwnDelivery(tx, run.id, run.requestedBy!) : store.insertDeliveries(tx, run),
    );
    await renewSubscriptions(db, { notificationId: run.notificationId });
    await store.setPhase(db, run.id, 'reading');
    const begun = performance.now();
    const found = await groups.groupReaders(run, board, context);
    const turn = createTurn(Math.max(TURN.ms, performance.now() - begun));
    if (!found.length) await renewForOwner(run, board, context);
    await store.tellServers(db, JSON.stringify({ runId: run.id, deliveryIds: representatives(found) }));
    const title = run.name ?? version.title ?? run.workbookName;
    if (!(await serve(found, { run, board, title, isSent }, turn, context))) return 'unfinished';
    await conclude(db, run, isSent);
    return 'done';
  }

  /** While the copies of a group are sent, the next group is drawn. Returns false if the turn was over before the end. */
  async function serve(found: readonly Group[], edition: Edition, turn: Turn, context: JobContext) {
    const prepare = (i: number) => {
      const prepared = found[i] && copies.prepare(found[i], edition, context);
      // It may fail before it is waited for.
      prepared?.catch(() => {});
      return prepared;
    };
    let next = prepare(0);
    try {
      for (let i = 0; i < found.length; i++) {
        context.signal.throwIfAborted();
        const prepared = await next;
        next = turn.isOver() ? undefined : prepare(i + 1);
        if (prepared) await copies.sendAll(prepared, edition, turn, context);
        else turn.count();
        if (turn.isOver()) return false;
      }
      return true;
    } finally {
      // Nothing of it goes on after the job.
      await next?.catch(() => {});
    }
  }

  /** Without recipients, a run still renews what the owner reads. */
  async function renewForOwner(run: store.RunRow, board: Board, context: JobContext) {
    try {
      const owner = await ownerOf(context.db, run, await tenantSettings.current());
      await copies.renew(run, await groups.boardOfReader(run, board, owner, context), owner, context);
    } catch (error) {
      if (error instanceof NoReaderError) return;
      if (error instanceof ApiError && !isTemporary(error)) throw new RunError(error.message);
      throw error;
    }
  }

  /** Ends the run or, if deliveries are to be retried, enqueues a job for that time. */
  async function conclude(db: Database, run: store.RunRow, isSent: boolean) {
    const { nextAttemptAt, failed, lost, reason } = await store.findSummary(db, run.id);
    if (nextAttemptAt !== null) {
      await store.setPhase(db, run.id, 'retrying');
      const { deploymentId, embedTenant: sharer, id: runId } = run;
      const runAt = new Date(Math.max(Date.parse(nextAttemptAt), Date.now()));
      await db.transaction((tx) => enqueue(tx, kind, { deploymentId, sharer, runId }, { runAt }));
      return;
    }
    const isFailed = isSent && failed > 0;
    const state = isFailed ? 'failed' : 'done';
    await finish(db, run, { state, reason: isFailed ? reason : null, hasLost: isSent && lost > 0 });
  }

  interface Outcome {
    state: 'done' | 'failed';
    reason: string | null;
    /** Whether a recipient gets nothing any more. */
    hasLost?: boolean;
  }

  function finish(db: Database, run: store.RunRow, { state, reason, hasLost = false }: Outcome) {
    return db.transaction(async (tx) => {
      if (!(await store.finishRun(tx, run.id, { state, reason }))) return;
      const { notificationId: id, deploymentId, embedTenant: sharer } = run;
      if (state === 'failed') {
        const data = { id: String(id), deploymentId, runId: run.id };
        await events.record(tx, [{ type: 'notification.failed', resource: `notification:${id}`, data }]);
      }
      if (!tellOwner || run.isPreview || (state === 'done' && !hasLost)) return;
      if (await store.claimOwnerNotice(tx, id))
        await enqueue(tx, tellOwner, { deploymentId, sharer, runId: run.id });
    });
  }
}

const representatives = (groups: readonly Group[]) =>
  groups.slice(0, WARMED_MAX).map(({ members }) => members[0]!.delivery.id);
