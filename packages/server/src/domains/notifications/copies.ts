/** Draws the dashboard for a group of readers, and sends each of them a copy, with their rights checked again right before. */
import type { Caller } from '../../platform/auth/actor.ts';
import type { Database } from '../../platform/db/database.ts';
import type { JobContext } from '../../platform/jobs/jobs.ts';
import { throttle } from '../../platform/jobs/pace.ts';
import type { Fingerprints, Queries } from '../queries/index.ts';
import type { Rendering, Renderings } from '../renderings/index.ts';
import type { TenantSettings, TenantSettingsRow } from '../tenant-settings/index.ts';
import { conditionQuery, measureCondition } from './conditions.ts';
import { ChangedError, type DeliverySender } from './delivering.ts';
import { AT_ONCE, eachOf, type Group, type Groups } from './groups.ts';
import { NoReaderError, type Reader, readerOf } from './readers.ts';
import { renewSubscriptions } from './recipients.store.ts';
import * as store from './runs.store.ts';
import type { Board } from './widget-queries.ts';

/** Why a whole run fails, in words for people. */
export class RunError extends Error {}

/** How long a run works before others take their turn. */
export interface Turn {
  count(): void;
  isOver(): boolean;
}

export interface CopyOptions {
  queries: Pick<Queries, 'run' | 'runSql' | 'load' | 'meta'>;
  renderings: Pick<Renderings, 'render'>;
  tenantSettings: TenantSettings;
}

/** What all groups of a run have in common. */
export interface Edition {
  run: store.RunRow;
  board: Board;
  title: string;
  isSent: boolean;
}

export interface PreparedCopy {
  group: Group;
  /** Nothing if no channel of the readers needs a picture. */
  rendering: Rendering | undefined;
  /** The value of the condition. */
  value: number | null;
  /** What was planned since the drawing. */
  known: Fingerprints;
}

export function createCopies(
  { queries, renderings, tenantSettings }: CopyOptions,
  { boardOfReader, keyOf }: Groups,
  { channelOf, refuse, deliver }: DeliverySender,
) {
  /** Asks for everything that the page of the dashboard would, so that it opens at once. */
  async function renew(run: store.RunRow, board: Board, actor: Caller, { db, signal }: JobContext) {
    const call = { actor, db, signal, deploymentId: run.deploymentId };
    await eachOf(board.asked, AT_ONCE, async (asked) => {
      await throttle(signal);
      await (typeof asked === 'string' ? queries.runSql(call, asked) : queries.run(call, asked));
    });
  }

  /** The value of the condition, as the reader sees it. */
  async function valueFor(run: store.RunRow, board: Board, actor: Caller, { db, signal }: JobContext) {
    if (!run.condition) return null;
    const query = conditionQuery(board, run.condition);
    if (!query)
      throw new RunError('The dashboard has no such chart with the measure of the condition any more.');
    const call = { actor, db, signal, deploymentId: run.deploymentId };
    return measureCondition(queries, call, query, run.condition);
  }

  function render(run: store.RunRow, { version, layout }: Board, actor: Caller, { db, signal }: JobContext) {
    const { title, description, config, snapshots: reportSnapshots } = version;
    const dashboard = { deploymentId: run.deploymentId, title, description, config, reportSnapshots };
    return renderings.render({ actor, db, signal }, { dashboard, layout, format: run.notificationFormat });
  }

  /** Returns nothing if the group can get nothing now; then each of its deliveries says why. */
  async function prepare(
    group: Group,
    { run, board, isSent }: Edition,
    context: JobContext,
  ): Promise<PreparedCopy | undefined> {
    const { db, signal } = context;
    const { actor } = group.reader;
    const known: Fingerprints = new Map();
    try {
      const own = await boardOfReader(run, board, actor, context);
      await renew(run, own, actor, context);
      const value = await valueFor(run, own, actor, context);
      await throttle(signal);
      const isDrawn = isSent && group.members.some(({ delivery }) => channelOf(delivery)?.isDrawn);
      const rendering = isDrawn ? await render(run, own, actor, context) : undefined;
      if ((await keyOf(run, board, actor, context, known)) !== group.key) throw new ChangedError();
      const ids = group.members.map(({ delivery }) => delivery.id);
      await store.addRendering(db, run.id, group.key, ids);
      return { group, rendering, value, known };
    } catch (error) {
      signal.throwIfAborted();
      for (const { delivery } of group.members) await refuse(db, delivery, error);
      return undefined;
    }
  }

  /**
   * Sends the copy to each member of the group. When the turn is over, the remaining members wait for the next turn.
   */
  async function sendAll(
    { group, rendering, value, known }: PreparedCopy,
    { run, board, title, isSent }: Edition,
    turn: Turn,
    context: JobContext,
  ) {
    const { db, signal } = context;
    await store.setPhase(db, run.id, 'sending');
    await eachOf(group.members, AT_ONCE, async ({ delivery }) => {
      signal.throwIfAborted();
      await throttle(signal);
      if (turn.isOver()) return;
      turn.count();
      if (!isSent)
        return store.endDelivery(db, delivery.id, { status: 'skipped', reason: 'Sending is switched off.' });
      const settings = await tenantSettings.current();
      let reader: Reader;
      try {
        reader = await readerNow(run, delivery, settings, db);
        if ((await keyOf(run, board, reader.actor, context, known)) !== group.key) throw new ChangedError();
      } catch (error) {
        signal.throwIfAborted();
        return refuse(db, delivery, error);
      }
      await deliver({ run, title, rendering }, { delivery, reader, value, settings }, context);
    });
  }

  return { renew, prepare, sendAll };
}

/** Checks the reader again: earlier groups may have taken long, and readers who lost access since then get nothing. */
async function readerNow(
  run: store.RunRow,
  { id, userId, sessionAt }: store.DeliveryRow,
  settings: TenantSettingsRow,
  db: Database,
) {
  const { notificationId } = run;
  if (sessionAt !== null) await renewSubscriptions(db, { notificationId, userId });
  const [delivery] = await store.listDeliveriesById(db, run, [id]);
  if (!delivery) throw new NoReaderError('They were removed.');
  return readerOf(db, run, delivery, settings);
}
