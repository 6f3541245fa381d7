/**
 * Makes a branch and its counterpart in the connected repository one: fetches what is new there, merges where both sides
 * have new commits, and pushes. Nothing is ever forced on either side.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { dataModelLimits } from '@oriel/contract';
import type { ChangeFunction, CommittedReply } from '../../platform/audit/change.ts';
import type { Database } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { streamPack } from '../../platform/git/bundle.ts';
import { mergeBase } from '../../platform/git/merge-bases.ts';
import { isBranchName } from '../../platform/git/names.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { type Hash, MissingObjectError, type Objects } from '../../platform/git/objects.ts';
import type { PackReader, ReceiveLimits } from '../../platform/git/remote/receive.ts';
import { RemoteError } from '../../platform/git/remote/remote-error.ts';
import type { Remote } from '../../platform/git/remote/smart-http.ts';
import type { Texts } from '../../platform/git/text-work.ts';
import { listTree } from '../../platform/git/trees.ts';
import {
  type Author,
  type BranchLock,
  type BranchRow,
  computeAndChange,
  computeMerge,
  createBranch,
  type EnqueueBuild,
  findBranch,
  lockUnchanged,
  moveBranch,
  requireBranchName,
  requireDataModelLock,
  requireRoom,
  requireWithinLimits,
  shownInAudit,
  treeOfCommit,
  uncommitted,
} from '../data-models/index.ts';
import { requestStatus } from './statuses.ts';
import * as store from './store.ts';

/** A repository may hold more than a model: pictures, notebooks. What is deployed has the limits of every data model. */
export const RECEIVE_LIMITS: ReceiveLimits = {
  objects: 500_000,
  objectBytes: 32 * 1024 * 1024,
  totalBytes: 256 * 1024 * 1024,
  deltaDepth: 4096,
  segmentBytes: dataModelLimits.segmentBytes,
  treeEntries: dataModelLimits.files + dataModelLimits.folders,
  treeDepth: 100,
};

export interface SyncOptions {
  db: Database;
  remote: Remote;
  packs: PackReader;
  texts: Texts;
  branchTurns: BranchLock;
  enqueueBuild: EnqueueBuild;
  change: ChangeFunction;
  author: Author;
  signal: AbortSignal;
  /** Commits that both sides have, so that a push leaves them out. */
  sharedHeads: readonly Hash[];
  /** Throws if the deployment was disconnected meanwhile, or connected to another repository. */
  requireConnected(): Promise<void>;
  /** The commit whose history the caller takes in the place of the one that was seen. */
  acceptRewritten?: Hash | undefined;
}

export interface SyncedBranch {
  /** What the repository has; undefined if it does not have the branch. */
  remoteHead: Hash | undefined;
  /** What it had when it was seen last; undefined if it was never seen. */
  seenHead: Hash | undefined;
}

/** Throws if another deployment serves the branch: its own rules say who may change what it serves. */
export async function requireNotServed(db: Database, deploymentId: number, name: string): Promise<void> {
  if (!(await store.isServedElsewhere(db, deploymentId, name))) return;
  throw new ApiError('branch_name_taken', {
    message: `Another deployment serves the branch ${name} of this repository, so it is not changed from here.`,
  });
}

const PUSHED_BYTES = 128 * 1024 * 1024;

/** Reads no further than the bound, so that a history that is too large never is in memory. */
export async function packOf(parts: AsyncIterable<Buffer>, bytesMax = PUSHED_BYTES): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const part of parts) {
    chunks.push(part);
    bytes += part.length;
    if (bytes > bytesMax)
      throw new RemoteError('too_large', 'The history is too large to be pushed: it has more than 128 MB.');
  }
  return Buffer.concat(chunks);
}

/**
 * The pauses before the retries of a push that was refused: `pull` and the job run in different processes, and others
 * push too, so the host may have got another push at the same moment.
 */
const REJECTED_PAUSES_MS: readonly number[] = [500, 2000];

/** Returns the reply of the change if the branch here moved. */
export async function syncBranch(
  options: SyncOptions,
  branch: BranchRow,
  { remoteHead, seenHead }: SyncedBranch,
  [pauseMs, ...laterPausesMs] = REJECTED_PAUSES_MS,
): Promise<CommittedReply<BranchRow> | undefined> {
  const { db, remote, signal } = options;
  const { deploymentId, name } = branch;
  if (remoteHead === undefined && seenHead !== undefined) {
    throw new ApiError('git_branch_removed', {
      message: `The branch ${name} is gone from the git host. It is kept here: delete it here too, or push it there again.`,
    });
  }
  if (remoteHead !== undefined && seenHead === undefined && remoteHead !== branch.head) {
    throw new ApiError('branch_name_taken', {
      message: `The git host has a branch ${name} that did not come from here: delete the one here, and pull that one.`,
    });
  }
  if (!branch.isDeploy) await requireNotServed(db, deploymentId, name);
  const objects = createObjects(db, deploymentId);
  const isAhead = async () =>
    remoteHead === branch.head ||
    // Only the commit that was seen last is known to be stored here, which the search for a base needs.
    (remoteHead === seenHead && (await baseIfKnown(objects, branch.head, remoteHead!)) === remoteHead);
  const moved =
    remoteHead === undefined || (await isAhead())
      ? undefined
      : await takeRemote(options, branch, { remoteHead, seenHead });
  const head = moved?.reply.head ?? branch.head;
  if (head !== remoteHead) {
    const known = remoteHead === undefined ? options.sharedHeads : [remoteHead];
    const pack = await packOf(streamPack(objects, [head], known));
    await options.requireConnected();
    // A branch that was deleted on both sides meanwhile must not come back.
    if (!(await findBranch(db, deploymentId, null, { branchId: branch.id }))) return moved;
    try {
      await remote.push([{ branch: name, from: remoteHead ?? null, to: head }], pack, signal);
    } catch (error) {
      const isRejected = error instanceof RemoteError && error.failure === 'rejected';
      if (!isRejected || pauseMs === undefined) throw error;
      await sleep(pauseMs, undefined, { signal });
      // Read in this order: the push of another process in between must not look like a history that was replaced.
      const seenNow = (await store.listRemoteHeads(db, deploymentId)).get(name);
      const { heads } = await remote.listBranches(signal);
      const now = { remoteHead: heads.get(name), seenHead: seenNow };
      return (await syncBranch(options, await requireSame(db, branch), now, laterPausesMs)) ?? moved;
    }
  }
  if (head !== seenHead) {
    await db.transaction(async (tx) => {
      await store.noteRemoteHead(tx, deploymentId, name, { head, before: seenHead });
      await requestStatus(tx, deploymentId, head);
    });
  }
  return moved;
}

/** Fetches the commits of the repository, and moves the branch to them, or to a merge with them. */
async function takeRemote(
  options: SyncOptions,
  branch: BranchRow,
  { remoteHead, seenHead }: { remoteHead: Hash; seenHead: Hash | undefined },
): Promise<CommittedReply<BranchRow> | undefined> {
  const { db } = options;
  const { deploymentId, name } = branch;
  const objects = createObjects(db, deploymentId);
  await fetchCommit(options, deploymentId, remoteHead, [branch.head]);
  if (await isRewritten(objects, seenHead, remoteHead)) {
    if (options.acceptRewritten !== remoteHead) throw rewritten(name, seenHead!, remoteHead);
    return takeRewritten(options, branch, remoteHead);
  }
  const base = await mergeBase(objects, branch.head, remoteHead);
  if (base === remoteHead) return undefined;
  if (base === null) throw new ApiError('git_repository_unrelated');
  if (branch.workingTree !== null && !branch.isDeploy) throw uncommitted(branch);
  await requireFits(db, deploymentId, remoteHead);
  const where = { deploymentId, userId: 0 };
  const compute = async () => {
    const now = await requireSame(db, branch);
    const theirs = { ...now, name: `${name} of the git host`, head: remoteHead, workingTree: null };
    const head = await computeMerge(db, theirs, now, options);
    return { branches: [now], head };
  };
  return computeAndChange(options, compute, async (tx, { branches, head }) => {
    await options.requireConnected();
    const locked = (await lockUnchanged(tx, where, branches))[0]!;
    const changes = head === undefined ? [] : [await moveBranch(tx, locked, { head }, options.enqueueBuild)];
    return { reply: { ...locked, head: head ?? locked.head }, changes };
  });
}

/** Whether the repository had commits that are not part of its history any more. */
export const isRewritten = async (objects: Objects, seenHead: Hash | undefined, remoteHead: Hash) =>
  seenHead !== undefined && (await baseIfKnown(objects, seenHead, remoteHead)) !== seenHead;

export const rewritten = (name: string, seenHead: Hash, remoteHead: Hash) =>
  new ApiError('git_history_rewritten', {
    message: `Somebody replaced the history of ${name} on the git host: it had the commit ${seenHead}, and has ${remoteHead}. It is not followed, and nothing is pushed over it. To take it, with the loss of the commits that it does not have, give \`acceptRewritten\`: ${remoteHead}.`,
  });

/** Moves the branch to the history of the repository, whatever it had. Its audit entry says which commit that was. */
async function takeRewritten(options: SyncOptions, branch: BranchRow, remoteHead: Hash) {
  const { db } = options;
  if (branch.workingTree !== null && !branch.isDeploy) throw uncommitted(branch);
  await requireFits(db, branch.deploymentId, remoteHead);
  const compute = async () => ({ branches: [await requireSame(db, branch)] });
  return computeAndChange(options, compute, async (tx, { branches }) => {
    await options.requireConnected();
    const where = { deploymentId: branch.deploymentId, userId: 0 };
    const locked = (await lockUnchanged(tx, where, branches))[0]!;
    const moved = await moveBranch(tx, locked, { head: remoteHead }, options.enqueueBuild);
    return { reply: { ...locked, head: remoteHead }, changes: [moved] };
  });
}

/** How many branches that only the repository has are looked at in one turn. The next turn goes on. */
const OTHERS_AT_ONCE = 20;

/**
 * Asks for a status for each new commit of branches that only the repository has, so that a pull request from one gets
 * it. Commits that are there at the first look are old, and get none.
 */
export async function lookAtOthers(
  options: Omit<SyncOptions, 'change'>,
  deploymentId: number,
  { heads, local }: { heads: ReadonlyMap<string, Hash>; local: readonly BranchRow[] },
): Promise<void> {
  const { db, signal, sharedHeads } = options;
  const own = new Set(local.map(({ name }) => name));
  const there = [...heads].filter(([name]) => isBranchName(name) && !own.has(name));
  await store.deleteHeadsOnlyThere(
    db.writes,
    deploymentId,
    there.map(([name]) => name),
  );
  const note = (noted: typeof there) => store.upsertHeadsOnlyThere(db.writes, deploymentId, noted);
  if (!(await store.updateKnowsBranches(db, deploymentId))) return void (await note(there));
  const known = await store.listHeadsOnlyThere(db, deploymentId);
  const fresh = there.filter(([name, head]) => known.get(name) !== head);
  for (const [name, head] of fresh.slice(0, OTHERS_AT_ONCE)) {
    signal.throwIfAborted();
    if (!(await store.isServedElsewhere(db, deploymentId, name))) {
      try {
        await fetchCommit(options, deploymentId, head, sharedHeads);
        await requireFits(db, deploymentId, head);
        await db.transaction((tx) => requestStatus(tx, deploymentId, head));
      } catch (error) {
        // What cannot be stored has no status. Others go on.
        if (!isLasting(error)) throw error;
      }
    }
    await note([[name, head]]);
  }
}

const isLasting = (error: unknown) =>
  error instanceof RemoteError ? error.failure !== 'unreachable' : error instanceof ApiError;

async function requireSame(db: Database, { id, deploymentId }: BranchRow): Promise<BranchRow> {
  const now = await findBranch(db, deploymentId, null, { branchId: id });
  if (!now) throw new ApiError('branch_changed');
  return now;
}

async function baseIfKnown(objects: Objects, a: Hash, b: Hash): Promise<Hash | null> {
  try {
    return await mergeBase(objects, a, b);
  } catch (error) {
    // What was seen may have been swept, if its branch here went another way.
    if (error instanceof MissingObjectError) return null;
    throw error;
  }
}

/** Makes a branch of one that only the repository has. */
export async function createFromRemote(
  options: SyncOptions,
  deploy: BranchRow,
  { name, head }: { name: string; head: Hash },
): Promise<CommittedReply<BranchRow>> {
  const { db, change, enqueueBuild } = options;
  const { deploymentId } = deploy;
  requireBranchName(name);
  await fetchCommit(options, deploymentId, head, [deploy.head]);
  await requireFits(db, deploymentId, head);
  return change(async (tx) => {
    await requireDataModelLock(tx, deploymentId);
    const made = await createBranch(tx, { deploymentId, userId: 0 }, { name, parent: deploy });
    await moveBranch(tx, made, { head }, enqueueBuild);
    await store.upsertRemoteHead(tx, deploymentId, name, head);
    await requestStatus(tx, deploymentId, head);
    const after = { ...made, head };
    return { reply: after, changes: { id: made.id, before: null, after: shownInAudit(after) } };
  });
}

/** Throws if a commit has more than a data model may have. */
export async function requireFits(db: Database, deploymentId: number, commit: Hash): Promise<void> {
  const objects = createObjects(db, deploymentId);
  await requireWithinLimits(db, deploymentId, await listTree(objects, await treeOfCommit(objects, commit)));
}

/** Fetches a commit with all that it needs. */
export async function fetchCommit(
  { db, remote, packs, signal }: Pick<SyncOptions, 'db' | 'remote' | 'packs' | 'signal'>,
  deploymentId: number,
  commit: Hash,
  haves: readonly Hash[],
): Promise<void> {
  await requireRoom(db, deploymentId);
  const pack = await remote.fetchPack({ wants: [commit], haves }, signal);
  const received = await packs.read(pack, createObjects(db, deploymentId), RECEIVE_LIMITS, signal);
  await requireRoom(db, deploymentId, received.bytes);
  // Write all objects in one transaction: if the server ends in between, no tree is stored without its files.
  await db.transaction((tx) => createObjects(tx, deploymentId).write(received.objects));
}
