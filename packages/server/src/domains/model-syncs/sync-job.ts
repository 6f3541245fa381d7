/** The job of a sync: reads the project, makes its cubes, and merges them into the branch, in one commit. */

import type { DbtConversion } from '@oriel/semantic';
import { isNotNow } from '../../platform/admission/admission.ts';
import { changeFunction, type OnChange } from '../../platform/audit/change.ts';
import { mayIn, reaches, withoutAction } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { ApiError, isApiError } from '../../platform/errors.ts';
import { writeCommit } from '../../platform/git/commits.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import type { Hash } from '../../platform/git/objects.ts';
import type { Texts } from '../../platform/git/text-work.ts';
import { WorkLimitError } from '../../platform/git/work.ts';
import type { JobContext, JobKind } from '../../platform/jobs/jobs.ts';
import { findPermissions, toPermissions } from '../access/index.ts';
import {
  authorOf,
  type BranchLock,
  type BranchRow,
  type EnqueueBuild,
  fileEntries,
  findBranch,
  findModelSettings,
  lockBranch,
  moveBranch,
  requireNoClashes,
  requireRoom,
  requireStagingAllowed,
  requireWithinLimits,
  rootOf,
  uncommitted,
} from '../data-models/index.ts';
import type { Event, Events } from '../webhooks/index.ts';
import { DbtError, type DbtWork } from './dbt-work.ts';
import { type GeneratedMerge, mergeGenerated, writeGenerated } from './generated.ts';
import { type ProjectOptions, readProject } from './project.ts';
import { DEFAULTS, toDbtSettings } from './source.ts';
import * as store from './store.ts';

export const STAGES = {
  queued: 0,
  reading: 5,
  parsing: 10,
  converting: 20,
  merging: 70,
  committing: 90,
  done: 100,
} as const;
export type Stage = keyof typeof STAGES;

const WORDS: Partial<Record<Stage, string>> = {
  reading: 'Reading the files of dbt',
  parsing: 'Letting dbt parse the project',
  converting: 'Making cubes of the project',
  merging: 'Merging them into the branch',
  committing: 'Committing the changes',
};

export const GIVEN_UP =
  'The sync was begun several times, and each time the server failed or stopped before it was done. The log of the server says why.';
const ATTEMPTS_MAX = 3;
/** If others change the branch meanwhile, the merge is made again. */
const TRIES_MAX = 5;
/** How often a running sync looks whether it was cancelled. */
const LOOK_EVERY_MS = 500;

export type SyncJob = JobKind<{ deploymentId: number; syncId: string; ref?: string | null }>;

export interface SyncOptions extends ProjectOptions {
  work: DbtWork;
  texts: Texts;
  enqueueBuild: EnqueueBuild;
  branchTurns: BranchLock;
  /** Told of what a sync changes. */
  onChange: OnChange;
  events: Pick<Events, 'record'>;
}

/** Ends a sync that was cancelled, or whose deployment or branch is gone, without recording a failure. */
class UnwantedSyncError extends Error {}

export const createSyncJob = (options: SyncOptions): SyncJob => ({
  name: 'model-syncs.sync',
  lane: 'syncs',
  maxAttempts: ATTEMPTS_MAX,
  timeLimitMs: 10 * 60_000,
  async run({ deploymentId, syncId, ref = null }, context) {
    const { db } = context;
    const sync = await store.findSync(db, deploymentId, syncId);
    if (sync?.state !== 'running') return 'done';
    const unwanted = new AbortController();
    const timer = setInterval(async () => {
      // If the database cannot be asked now, it can be asked again.
      if (!(await store.isRunning(db, syncId).catch(() => true))) unwanted.abort(new UnwantedSyncError());
    }, LOOK_EVERY_MS);
    const signal = AbortSignal.any([context.signal, unwanted.signal]);
    try {
      await runSync(sync, ref, { ...context, signal }, options);
    } catch (error) {
      if (unwanted.signal.aborted || error instanceof UnwantedSyncError) return 'done';
      const reason = reasonOf(error);
      const isLast = context.attempt >= ATTEMPTS_MAX && !context.signal.aborted;
      if (reason !== undefined || isLast)
        await db.transaction(async (tx) => {
          const failed = { state: 'failed', error: reason ?? GIVEN_UP } as const;
          if (await store.endSync(tx, syncId, failed))
            await options.events.record(tx, [eventOf(sync, 'failed')]);
        });
      if (reason === undefined) throw error;
    } finally {
      clearInterval(timer);
    }
    return 'done';
  },
});

const eventOf = ({ id, deploymentId, userId }: store.SyncRow, outcome: 'completed' | 'failed'): Event => ({
  type: `model_sync.${outcome}`,
  resource: `model_sync:${id}`,
  data: { id, deploymentId, userId },
});

/** Returns why the sync failed, in words for people; undefined for an unknown error, so that the job is retried. */
function reasonOf(error: unknown): string | undefined {
  if (error instanceof DbtError) return error.message;
  if (error instanceof WorkLimitError)
    return 'The generated files differ too much from those of the branch to merge them.';
  return error instanceof ApiError && !isNotNow(error) ? error.message : undefined;
}

async function runSync(sync: store.SyncRow, ref: string | null, context: JobContext, options: SyncOptions) {
  const { db, signal } = context;
  const { deploymentId } = sync;
  const tell = (stage: Stage) => context.progress({ done: STAGES[stage], total: 100, message: stage });
  tell('reading');
  const source = await store.findSource(db, deploymentId);
  const settings = source.settings ?? DEFAULTS;
  const root = rootOf((await findModelSettings(db, deploymentId))?.deployProjectRoot ?? '/');
  const fromRepository =
    settings.kind === 'repository'
      ? await readProject(options, { deploymentId, source, ref }, { db, signal, tell })
      : undefined;
  const conversion = await options.work.convert(
    async () => {
      const files = fromRepository ?? (await store.findManifestFiles(db, deploymentId));
      if (!files) throw new DbtError('The manifest was removed.');
      tell('converting');
      return {
        manifest: files.manifest,
        catalog: files.catalog ?? undefined,
        settings: toDbtSettings(settings, root),
      };
    },
    { deploymentId, signal },
  );
  const sourceCommit = fromRepository?.commit ?? null;
  const bytes = conversion.files.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0);
  await requireRoom(db, deploymentId, bytes);
  for (let tries = 1; ; tries++) {
    tell('merging');
    try {
      return await mergeAndCommit(sync, { conversion, sourceCommit }, { db, signal, tell }, options);
    } catch (error) {
      if (tries >= TRIES_MAX || !isApiError(error, 'branch_changed')) throw error;
    }
  }
}

export interface Run {
  db: Database;
  signal: AbortSignal;
  tell(stage: Stage): void;
}

async function mergeAndCommit(
  sync: store.SyncRow,
  { conversion, sourceCommit }: { conversion: DbtConversion; sourceCommit: string | null },
  { db, signal, tell }: Run,
  { texts, enqueueBuild, branchTurns, onChange, events }: SyncOptions,
) {
  const { deploymentId, userId } = sync;
  const objects = createObjects(db, deploymentId);
  const branch = await requireOwnBranch(db, sync);
  if (userId === null) throw gone();
  await requireStillAllowed(db, sync, userId, branch);
  const author = await authorOf(db, userId);
  const { generatedHead } = await store.findSource(db, deploymentId);
  const generated = await writeGenerated(objects, conversion.files, generatedHead, author);
  const merged = await texts.during({ deploymentId, signal }, (work) =>
    mergeGenerated(objects, branch, generated, work),
  );
  let commit: Hash | null = null;
  if (merged) {
    requireNoClashes(merged.before, merged.after, (path) => path);
    await requireWithinLimits(db, deploymentId, new Map(merged.after));
    commit = await writeCommit(objects, {
      tree: merged.tree,
      parents: [branch.head, generated],
      author: { ...author, at: new Date() },
      message: `Sync with dbt: ${conversion.modelCount} ${conversion.modelCount === 1 ? 'cube' : 'cubes'}`,
    });
  }
  tell('committing');
  signal.throwIfAborted();
  const result = { ...resultOf(conversion, merged, commit), sourceCommit };
  const change = changeFunction(db, originOf(sync, userId), { onChange });
  await branchTurns([branch.id], signal, () =>
    change(async (tx) => {
      const now = await lockBranch(tx, { deploymentId, userId }, branch.id);
      const source = await store.lockSource(tx, deploymentId);
      if (now.head !== branch.head || source.generatedHead !== generatedHead)
        throw new ApiError('branch_changed');
      requireSyncable(now);
      await requireStillAllowed(tx, sync, userId, now);
      if (!(await store.endSync(tx, sync.id, { state: 'completed', result }))) throw new UnwantedSyncError();
      await events.record(tx, [eventOf(sync, 'completed')]);
      if (!merged || commit === null) return { reply: undefined, changes: [] };
      if (generated !== generatedHead) await store.updateGenerated(tx, deploymentId, generated, DEFAULTS);
      const moved = await moveBranch(tx, now, { head: commit }, enqueueBuild);
      const edits = new Map(
        [...merged.changed, ...merged.removed].map((path) => [path, merged.after.get(path) ?? null]),
      );
      return { reply: undefined, changes: [moved, ...fileEntries(now, merged.before, edits)] };
    }),
  );
}

async function requireOwnBranch(db: Database, { deploymentId, branchId, userId, branchName }: store.SyncRow) {
  const branch = branchId === null ? undefined : await findBranch(db, deploymentId, userId, { branchId });
  if (!branch) throw new DbtError(`The branch ${branchName} was deleted.`);
  requireSyncable(branch);
  return branch;
}

const gone = () => new DbtError('The person who started the sync is not active any more.');

/** What the caller was allowed when the sync was started may have been taken from them since. */
async function requireStillAllowed(db: Queryable, sync: store.SyncRow, userId: number, branch: BranchRow) {
  const { deploymentId, apiKeyId } = sync;
  const permissions = await findPermissions(db, userId);
  if (!permissions) throw gone();
  const key = apiKeyId === null ? { deploymentIds: null } : await store.findKeyScope(db, apiKeyId);
  if (!key) throw new DbtError('The API key that started the sync has ended.');
  const actor: Person = { ...personOf(sync, userId), ...toPermissions(permissions), ...key };
  if (!reaches(actor, deploymentId)) throw new ApiError('outside_key_scope');
  if (!mayIn(actor, deploymentId, 'SchemaUpdateDevBranches')) throw withoutAction('SchemaUpdateDevBranches');
  requireStagingAllowed(actor, branch);
}

/** Throws if a sync cannot commit to this branch. Checked at the start, and again before the commit. */
export function requireSyncable(branch: BranchRow): void {
  if (branch.isDeploy) throw new ApiError('model_sync_on_deploy_branch');
  if (branch.workingTree !== null) throw uncommitted(branch);
}

const resultOf = (
  { modelCount, counts, files, notes, notesCount }: DbtConversion,
  merged: GeneratedMerge | undefined,
  commit: Hash | null,
): store.SyncResult => ({
  modelCount,
  manifestStats: counts,
  generatedFiles: files.map(({ path }) => ({ path })),
  commit,
  changedFiles: merged?.changed ?? [],
  removedFiles: merged?.removed ?? [],
  conflicts: merged?.conflicts ?? [],
  notes: [...notes],
  notesCount,
});

const personOf = ({ apiKeyId }: store.SyncRow, userId: number): Person => ({
  kind: 'person',
  userId,
  apiKeyId,
  sessionId: null,
  deploymentIds: null,
  actions: new Set(),
  deploymentActions: new Map(),
});

/** The entries of the audit log name the request that started the sync. */
const originOf = (sync: store.SyncRow, userId: number) => ({
  operation: 'startModelSync',
  resourceType: 'branch',
  actor: personOf(sync, userId),
  deploymentId: sync.deploymentId,
  embedTenantName: null,
  ip: sync.ip,
  requestId: sync.requestId,
});

export const stageWords = (stage: Stage) => WORDS[stage];
