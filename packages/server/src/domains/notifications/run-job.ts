/**
 * Runs a notification: checks that it can still be shown, finds out who reads it, groups readers with equal rows, renews
 * those rows, draws once for each group, and sends. What is being sent is written down before, so that nobody gets a run
 * twice, whatever crashes: what was on its way at that moment counts as unknown, and is not sent again.
 */
import { createHash } from 'node:crypto';
import type { Database, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { backoff, enqueue, type JobContext, type JobKind } from '../../platform/jobs/jobs.ts';
import type { ReadPublished } from '../dashboards/index.ts';
import type { Fingerprints, Queries, QueryOrSql } from '../queries/index.ts';
import { DrawingLost, type Rendering, type Renderings } from '../renderings/index.ts';
import type { TenantSettings, TenantSettingsRow } from '../tenant-settings/index.ts';
import type { Events } from '../webhooks/index.ts';
import { type Channels, type Copy, NotSent } from './channels.ts';
import type { RunPayload } from './clock.ts';
import { conditionQuery, isMet, measured } from './conditions.ts';
import { missingControls } from './notifications.ts';
import { NotForThem, ownerOf, type Reader, readerOf } from './readers.ts';
import * as store from './runs.store.ts';
import { type Board, boardFor, boardOf } from './widget-queries.ts';

export interface RunOptions {
  queries: Pick<Queries, 'run' | 'runSql' | 'load' | 'meta' | 'fingerprint' | 'viewer'>;
  readPublished: ReadPublished;
  tenantSettings: TenantSettings;
  channels: Channels;
  events: Events;
  renderings: Pick<Renderings, 'render'>;
  /** Undefined if this server sends no mail. */
  tellOwner?: JobKind<RunPayload> | undefined;
  linkOf(run: store.RunRow, delivery: store.DeliveryRow, settings: TenantSettingsRow): string | null;
  unsubscribeUrlOf(run: store.RunRow, delivery: store.DeliveryRow): string | null;
  /** For tests. */
  retryMs?: number;
}

/** What was drawn may not be what a reader sees now, so they are put into groups again. */
class Changed extends Error {
  constructor() {
    super('The rights of the reader or the data model changed while it was drawn.');
  }
}

/** Why a whole run fails, in words for people. */
class RunFailure extends Error {}

const ATTEMPTS_MAX = 20;
const SEND_ATTEMPTS_MAX = 6;
const RETRY_MS = 60_000;
/** How long copies wait for their turn while their embed tenant has too many messages. */
const DELAYED_MAX_MS = 24 * 60 * 60_000;
const PAGE = 500;
const AT_ONCE = 4;
const WARMED_MAX = 50;
const REASON_MAX = 300;
const STOPPED = 'The server stopped while it was sent, so it is not sent again.';
const GIVEN_UP =
  'It was begun several times, and the server failed each time. The log of the server says why.';

/** How long a run works before others take their turn. Tests shorten it. */
export const TURN = { ms: 30_000 };

/** Over after the time, but not before something was done, so that each turn brings the run on. */
interface Turn {
  count(): void;
  isOver(): boolean;
}

function createTurn(ms: number): Turn {
  const end = performance.now() + ms;
  let done = 0;
  return {
    count: () => void done++,
    isOver: () => done > 0 && performance.now() > end,
  };
}

interface Group {
  key: string;
  reader: Reader;
  members: { delivery: store.DeliveryRow; reader: Reader }[];
}

export function createRunJob(options: RunOptions): JobKind<RunPayload> {
  const { queries, tenantSettings, channels, events } = options;

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
        const reason = error instanceof RunFailure ? error.message : undefined;
        if (reason === undefined && attempt < ATTEMPTS_MAX) throw error;
        await finish(db, run, { state: 'failed', reason: reason ?? GIVEN_UP });
      }
      return 'done';
    },
  };
  return kind;

  /** Does a part of it. Others take their turn before the next part. */
  async function execute(run: store.RunRow, context: JobContext): Promise<'done' | 'unfinished'> {
    const { db, signal } = context;
    await store.setPhase(db, run.id, 'checking');
    await store.giveUpSending(db, run.id, STOPPED);
    const version = await options.readPublished(db, run.dashboardId);
    if (!version) throw new RunFailure('The dashboard is not published any more.');
    const [missing] = missingControls(version, run);
    if (missing) throw new RunFailure(missing.message);
    const board = boardOf(version, run);
    const isSent = run.isPreview || run.notificationEnabled;
    await db.transaction((tx) =>
      run.isPreview ? store.insertOwnDelivery(tx, run.id, run.requestedBy!) : store.insertDeliveries(tx, run),
    );
    await store.setPhase(db, run.id, 'reading');
    const begun = performance.now();
    const groups = await groupReaders(run, board, context);
    const turn = createTurn(Math.max(TURN.ms, performance.now() - begun));
    if (!groups.length) await renewForOwner(run, board, context);
    await store.tellServers(db, JSON.stringify({ runId: run.id, deliveryIds: representatives(groups) }));
    const title = run.name ?? version.title ?? run.workbookName;
    for (const group of groups) {
      signal.throwIfAborted();
      await serve(group, { run, board, title, isSent, turn }, context);
      if (turn.isOver()) return 'unfinished';
    }
    await conclude(db, run, isSent);
    return 'done';
  }

  /** Readers for whom every statement of the dashboard is the same, with the same values, get the same rows. */
  async function groupReaders(run: store.RunRow, board: Board, context: JobContext): Promise<Group[]> {
    const { db, signal } = context;
    const settings = await tenantSettings.current();
    const groups = new Map<string, Group>();
    const known: Fingerprints = new Map();
    for (let afterId = 0; ; ) {
      const page = await store.listWaiting(db, run, afterId, PAGE);
      await eachOf(page, AT_ONCE, async (delivery) => {
        signal.throwIfAborted();
        try {
          const reader = await readerOf(db, run, delivery, settings);
          const key = await keyOf(run, board, reader.actor, context, known);
          const group = groups.get(key) ?? { key, reader, members: [] };
          groups.set(key, group);
          group.members.push({ delivery, reader });
        } catch (error) {
          signal.throwIfAborted();
          await refuse(db, delivery, error);
        }
      });
      if (page.length < PAGE) return inOrder([...groups.values()]);
      afterId = page.at(-1)!.id;
    }
  }

  async function keyOf(
    run: store.RunRow,
    board: Board,
    actor: Reader['actor'],
    context: JobContext,
    known: Fingerprints,
  ) {
    const { asked, layout, look } = await forReader(run, board, actor, context);
    const { db, signal } = context;
    const call = { actor, db, signal, deploymentId: run.deploymentId };
    return hashOf(await queries.fingerprint(call, asked, known, layout.chosen.askedAt), look);
  }

  function forReader(run: store.RunRow, board: Board, actor: Reader['actor'], { db, signal }: JobContext) {
    const call = { actor, db, signal, deploymentId: run.deploymentId };
    return boardFor(board, run, async () => (await queries.viewer(call)).userAttributes);
  }

  async function refuse(db: Database, delivery: store.DeliveryRow, error: unknown) {
    if (error instanceof NotForThem)
      return store.endDelivery(db, delivery.id, { status: 'skipped', reason: error.message });
    if (!(error instanceof ApiError) && !(error instanceof Changed)) throw error;
    if (isTemporary(error) && delivery.attempts < SEND_ATTEMPTS_MAX)
      return store.retryDelivery(db, delivery.id, pauseAfter(delivery.attempts + 1), error.message, 1);
    return store.endDelivery(db, delivery.id, { status: 'failed', reason: error.message });
  }

  async function renew(run: store.RunRow, board: Board, actor: Reader['actor'], { db, signal }: JobContext) {
    const call = { actor, db, signal, deploymentId: run.deploymentId };
    await eachOf(board.asked, AT_ONCE, (asked) => renewOne(call, asked));
  }
  function renewOne(call: Parameters<Queries['run']>[0], asked: QueryOrSql) {
    return typeof asked === 'string' ? queries.runSql(call, asked) : queries.run(call, asked);
  }

  /** Without recipients, a run still renews what the owner reads. */
  async function renewForOwner(run: store.RunRow, board: Board, context: JobContext) {
    try {
      const owner = await ownerOf(context.db, run, await tenantSettings.current());
      await renew(run, await forReader(run, board, owner, context), owner, context);
    } catch (error) {
      if (error instanceof NotForThem) return;
      if (error instanceof ApiError && !isTemporary(error)) throw new RunFailure(error.message);
      throw error;
    }
  }

  interface Served {
    run: store.RunRow;
    board: Board;
    title: string;
    isSent: boolean;
    turn: Turn;
  }

  async function serve(group: Group, { run, board, title, isSent, turn }: Served, context: JobContext) {
    const { db, signal } = context;
    const { actor } = group.reader;
    let rendering: Rendering | undefined;
    let value: number | null = null;
    /** Of after the drawing. */
    const known: Fingerprints = new Map();
    try {
      const own = await forReader(run, board, actor, context);
      await renew(run, own, actor, context);
      value = await valueFor(run, own, actor, context);
      const isDrawn = isSent && group.members.some(({ delivery }) => channelOf(delivery)?.isDrawn);
      if (isDrawn) rendering = await render(run, own, actor, context);
      if ((await keyOf(run, board, actor, context, known)) !== group.key) throw new Changed();
      await store.addRendering(
        db,
        run.id,
        group.key,
        group.members.map(({ delivery }) => delivery.id),
      );
    } catch (error) {
      signal.throwIfAborted();
      for (const { delivery } of group.members) await refuse(db, delivery, error);
      return turn.count();
    }
    await store.setPhase(db, run.id, 'sending');
    await eachOf(group.members, AT_ONCE, async ({ delivery }) => {
      signal.throwIfAborted();
      if (turn.isOver()) return;
      turn.count();
      if (!isSent)
        return store.endDelivery(db, delivery.id, { status: 'skipped', reason: 'Sending is switched off.' });
      const settings = await tenantSettings.current();
      let reader: Reader;
      try {
        reader = await readerNow(run, delivery, settings, db);
        if ((await keyOf(run, board, reader.actor, context, known)) !== group.key) throw new Changed();
      } catch (error) {
        signal.throwIfAborted();
        return refuse(db, delivery, error);
      }
      const isClaimed = await db.transaction((tx) =>
        claim(tx, run, delivery, value, settings.embedNotificationsPerHour),
      );
      if (!isClaimed) return;
      const copy: Copy = {
        run,
        title,
        rendering,
        link: options.linkOf(run, delivery, settings),
        unsubscribeUrl: options.unsubscribeUrlOf(run, delivery),
      };
      return send(copy, delivery, { reader, value }, context);
    });
  }

  /** Groups before may have taken long: whoever has left or lost access since then gets nothing. */
  async function readerNow(
    run: store.RunRow,
    { id }: store.DeliveryRow,
    settings: TenantSettingsRow,
    db: Database,
  ) {
    const [delivery] = await store.listDeliveriesById(db, run, [id]);
    if (!delivery) throw new NotForThem('They were removed.');
    return readerOf(db, run, delivery, settings);
  }

  function render(
    run: store.RunRow,
    { version, layout }: Board,
    actor: Reader['actor'],
    context: JobContext,
  ) {
    const { db, signal } = context;
    const { title, description, config, snapshots: reportSnapshots } = version;
    const dashboard = { deploymentId: run.deploymentId, title, description, config, reportSnapshots };
    return options.renderings.render(
      { actor, db, signal },
      { dashboard, layout, format: run.notificationFormat },
    );
  }

  /** The value of the condition, as the reader sees it. */
  async function valueFor(
    run: store.RunRow,
    board: Board,
    actor: Reader['actor'],
    { db, signal }: JobContext,
  ) {
    if (!run.condition) return null;
    const query = conditionQuery(board, run.condition);
    if (!query)
      throw new RunFailure('The dashboard has no such chart with the measure of the condition any more.');
    const call = { actor, db, signal, deploymentId: run.deploymentId };
    return measured(queries, call, query, run.condition);
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
    if (run.condition && !run.isPreview) {
      const before = await store.lockCondition(tx, run.notificationId, delivery.target);
      const isTrue = isMet(run.condition, value, before?.value ?? null);
      if (!isTrue || before?.isTrue) {
        await store.setCondition(tx, run.notificationId, delivery.target, { isTrue, value });
        return skip(isTrue ? 'The condition was met before, and still is.' : 'The condition is not met.');
      }
    }
    await store.lockClaims(tx, delivery.id);
    if (await store.claimDelivery(tx, delivery.id, perHour)) return true;
    if (perHour === 0) return skip('The settings of the account let the embed tenant have no messages.');
    if (Date.now() - Date.parse(run.createdAt) > DELAYED_MAX_MS)
      return skip('The embed tenant has had its messages of each hour since.');
    const delayMs = await store.findRoomInMs(tx, delivery.id);
    const reason = 'The embed tenant has had its messages of this hour, so it waits for the next.';
    await store.retryDelivery(tx, delivery.id, delayMs, reason);
    return false;
  }

  /** It was sent. An alert is not sent again while its condition stays true. */
  async function arrived(
    tx: Tx,
    { notificationId, condition, isPreview }: store.RunRow,
    { id, target }: store.DeliveryRow,
    value: number | null,
  ) {
    await store.endDelivery(tx, id, { status: 'sent', reason: null });
    if (condition && !isPreview)
      await store.setCondition(tx, notificationId, target, { isTrue: true, value });
  }

  function channelOf({ type }: store.DeliveryRow) {
    return type === 'SLACK' ? channels.slack : type === 'WEBHOOK' ? undefined : channels.mail;
  }

  async function send(
    copy: Copy,
    delivery: store.DeliveryRow,
    { reader, value }: { reader: Reader; value: number | null },
    { db, log, signal }: JobContext,
  ) {
    if (delivery.type === 'WEBHOOK')
      return db.transaction(async (tx) => {
        const isTaken = await channels.webhooks.add(tx, copy, delivery);
        if (isTaken) await arrived(tx, copy.run, delivery, value);
        else
          await store.endDelivery(tx, delivery.id, {
            status: 'failed',
            reason: 'The webhook is switched off.',
          });
      });
    const channel = channelOf(delivery);
    if (!channel) {
      const reason =
        delivery.type === 'SLACK'
          ? 'This server has no token for Slack: set ORIEL_SLACK_TOKEN.'
          : 'This server sends no mail: set ORIEL_SMTP_URL.';
      return store.endDelivery(db, delivery.id, { status: 'failed', reason });
    }
    try {
      await channel.send(copy, delivery, reader, signal);
      await db.transaction((tx) => arrived(tx, copy.run, delivery, value));
      if (delivery.recipientId !== null) await store.setProblem(db, delivery.recipientId, null);
    } catch (error) {
      if (!(error instanceof NotSent))
        log.error({ err: error, deliveryId: delivery.id }, 'a copy could not be sent');
      await note(db, delivery, error instanceof NotSent ? error : new NotSent('It could not be sent.'));
    }
  }

  async function note(
    db: Database,
    delivery: store.DeliveryRow,
    { message, isPermanent, mayBeSent }: NotSent,
  ) {
    const reason = message.slice(0, REASON_MAX);
    const attempts = delivery.attempts + 1;
    if (mayBeSent) return store.endDelivery(db, delivery.id, { status: 'unknown', reason });
    if (!isPermanent && attempts < SEND_ATTEMPTS_MAX)
      return store.retryDelivery(db, delivery.id, pauseAfter(attempts), reason);
    await store.endDelivery(db, delivery.id, { status: 'failed', reason });
    if (delivery.recipientId !== null) await store.setProblem(db, delivery.recipientId, reason);
  }

  /** Ends the run or, if somebody is to be tried again, lets another job go on with it then. */
  async function conclude(db: Database, run: store.RunRow, isSent: boolean) {
    const { nextAttemptAt, failed, lost, reason } = await store.findSummary(db, run.id);
    if (nextAttemptAt !== null) {
      await store.setPhase(db, run.id, 'retrying');
      const { deploymentId, id: runId } = run;
      const runAt = new Date(Math.max(Date.parse(nextAttemptAt), Date.now()));
      await db.transaction((tx) => enqueue(tx, kind, { deploymentId, runId }, { runAt }));
      return;
    }
    const isFailed = isSent && failed > 0;
    const state = isFailed ? 'failed' : 'done';
    await finish(db, run, { state, reason: isFailed ? reason : null, hasLost: isSent && lost > 0 });
  }

  interface Outcome {
    state: 'done' | 'failed';
    reason: string | null;
    /** Whether somebody gets nothing any more. */
    hasLost?: boolean;
  }

  function finish(db: Database, run: store.RunRow, { state, reason, hasLost = false }: Outcome) {
    return db.transaction(async (tx) => {
      if (!(await store.finishRun(tx, run.id, { state, reason }))) return;
      const { notificationId: id, deploymentId } = run;
      if (state === 'failed') {
        const data = { id: String(id), deploymentId, runId: run.id };
        await events.record(tx, [{ type: 'notification.failed', resource: `notification:${id}`, data }]);
      }
      const { tellOwner } = options;
      if (!tellOwner || run.isPreview || (state === 'done' && !hasLost)) return;
      if (await store.claimTelling(tx, id)) await enqueue(tx, tellOwner, { deploymentId, runId: run.id });
    });
  }

  function pauseAfter(attempts: number) {
    return backoff(attempts, options.retryMs ?? RETRY_MS);
  }
}

/** In the order of the recipients, whoever was found first. */
const inOrder = (groups: readonly Group[]): Group[] =>
  groups
    .map(({ key, members }) => {
      const sorted = members.toSorted((a, b) => a.delivery.id - b.delivery.id);
      return { key, reader: sorted[0]!.reader, members: sorted };
    })
    .sort((a, b) => a.members[0]!.delivery.id - b.members[0]!.delivery.id);

const representatives = (groups: readonly Group[]) =>
  groups.slice(0, WARMED_MAX).map(({ members }) => members[0]!.delivery.id);

const isTemporary = (error: ApiError | Changed) =>
  error instanceof Changed ||
  error instanceof DrawingLost ||
  error.statusCode >= 500 ||
  error.statusCode === 429;

const hashOf = (...parts: string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** Works on so many at once. Waits for all that have begun before it throws. */
async function eachOf<T>(items: readonly T[], atOnce: number, work: (item: T) => Promise<unknown>) {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  const failure = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failure) throw failure.reason;
}
