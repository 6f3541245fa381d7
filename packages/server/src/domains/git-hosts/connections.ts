/** The repository of a deployment: connecting it, and keeping both sides one. */
import { randomBytes } from 'node:crypto';
import { createAdmission, notNow } from '../../platform/admission/admission.ts';
import {
  type CommittedReply,
  changeFunction,
  type OnChange,
  type Origin,
} from '../../platform/audit/change.ts';
import { NOBODY } from '../../platform/auth/actor.ts';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { readCommit } from '../../platform/git/commits.ts';
import { mergeBase } from '../../platform/git/merge-bases.ts';
import { isBranchName } from '../../platform/git/names.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { createPackReader } from '../../platform/git/remote/receive.ts';
import { createRemote, type Remote, type RemoteAddress } from '../../platform/git/remote/smart-http.ts';
import type { Texts } from '../../platform/git/text-work.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import type { Platform } from '../../platform/module.ts';
import {
  type BranchLock,
  type BranchRow,
  type EnqueueBuild,
  findDeployBranch,
  listSharedBranches,
} from '../data-models/index.ts';
import type { Events } from '../webhooks/index.ts';
import { withHost } from './failures.ts';
import { credentialsOf, type Host, hasStatuses } from './hosts.ts';
import type { Installations } from './installations.ts';
import * as store from './store.ts';
import {
  createFromRemote,
  isRewritten,
  lookAtOthers,
  requireNotServed,
  rewritten,
  type SyncOptions,
  syncBranch,
} from './sync.ts';

/** A pack of a whole repository, compressed. */
const REMOTE_LIMITS = { packBytes: 128 * 1024 * 1024, timeoutMs: 60_000 };
/** What is fetched is held in memory, and a host may be slow. A deployment has one turn at a time. */
const LIMITS = { places: 3, sharerPlaces: 1, waitingMax: 200, sharerWaitingMax: 20, waitMs: 30_000 };

/** The author of merges that no person asked for. */
const AUTOMATIC = { name: 'Oriel', email: 'oriel@localhost' };

export const remoteAt = ({ outbound }: Pick<Platform, 'outbound'>, address: RemoteAddress): Remote =>
  createRemote(outbound, address, REMOTE_LIMITS);

export const remoteOf = (platform: Pick<Platform, 'outbound'>, host: Host, url: string): Remote =>
  remoteAt(platform, { url, credentials: credentialsOf(host) });

export interface ConnectionOptions {
  installations: Installations;
  texts: Texts;
  branchTurns: BranchLock;
  enqueueBuild: EnqueueBuild;
  /** Told of changes that jobs make. */
  onChange: OnChange;
  /** Told of connections that fail. */
  events: Pick<Events, 'record'>;
}

interface SyncPayload {
  deploymentId: number;
}

export type SyncCall = Pick<SyncOptions, 'db' | 'change' | 'author' | 'signal'>;

export interface Connections {
  /**
   * Brings one branch together with the repository. Without a name, the deploy branch. `acceptRewritten` is the commit
   * whose history is taken in the place of the one that was seen.
   */
  pull(
    call: SyncCall,
    deploymentId: number,
    branchName: string | null,
    acceptRewritten?: string,
  ): Promise<CommittedReply<BranchRow> | undefined>;
  /**
   * Deletes a branch of the repository, if the deployment is connected and the repository has it. What is returned belongs
   * into the transaction that deletes the branch here: a job must not take it for one that was never pushed.
   */
  removeBranch(
    call: Pick<SyncCall, 'db' | 'signal'>,
    deploymentId: number,
    branchName: string,
  ): Promise<(tx: Tx) => Promise<unknown>>;
  packs: ReturnType<typeof createPackReader>;
  job: JobKind<SyncPayload>;
}

const JOB_NAME = 'git-hosts.sync';

/** Errors that are about a call of `pull` only, and not about the connection. */
const OF_REQUEST: readonly string[] = ['branch_not_found', 'invalid_branch_name', 'uncommitted_changes'];

/** What webhooks call some of the reasons. */
const TOLD: Readonly<Record<string, 'git_connection.diverged' | 'git_connection.rewritten'>> = {
  merge_conflict: 'git_connection.diverged',
  git_history_rewritten: 'git_connection.rewritten',
};

/**
 * Enqueues a job that brings the branches of the deployment together with its repository, if it is connected. With
 * `mustLook`, the job always asks the git host; without it, only if a commit was made here.
 */
export async function requestSync(tx: Tx, deploymentId: number, mustLook: boolean): Promise<void> {
  if (await store.requestSync(tx, deploymentId, mustLook)) await enqueue(tx, SYNC_JOB, { deploymentId });
}

/** What is enqueued. The kind that runs is made by `createConnections`, because it needs the platform. */
const SYNC_JOB: JobKind<SyncPayload> = {
  name: JOB_NAME,
  lane: 'remotes',
  maxAttempts: 5,
  timeLimitMs: 5 * 60_000,
  run: () => Promise.reject(new Error('this kind of job is only for enqueuing')),
};

export function createConnections(
  platform: Platform,
  { installations, texts, branchTurns, enqueueBuild, onChange, events }: ConnectionOptions,
): Connections {
  const packs = createPackReader();
  const admission = createAdmission({
    ...LIMITS,
    refusal: (excess) => notNow(excess, 'Too many repositories are being fetched already: try again.'),
  });
  const inTurn = <Value>(deploymentId: number, signal: AbortSignal, work: () => Promise<Value>) =>
    admission.take({ sharer: String(deploymentId), signal }, work);

  async function open(db: Queryable, deploymentId: number) {
    const connection = await store.findConnection(db, deploymentId);
    if (!connection) throw new ApiError('no_remote');
    const host = await installations.open(db, connection.installationId);
    const requireConnected = async () => {
      const now = await store.findConnection(db, deploymentId);
      if (now?.webhookId !== connection.webhookId) throw new ApiError('no_remote');
    };
    return {
      remote: remoteOf(platform, host, connection.url),
      requireConnected,
      hasStatuses: hasStatuses(host),
    };
  }

  const optionsFor = (
    call: SyncCall,
    { remote, requireConnected }: Awaited<ReturnType<typeof open>>,
    sharedHeads: readonly string[],
  ): SyncOptions => ({
    ...{ ...call, remote, requireConnected, sharedHeads },
    ...{ packs, texts, branchTurns, enqueueBuild },
  });

  /** The commits that both sides have at the ends of branches. */
  const sharedOf = (local: readonly BranchRow[], heads: ReadonlyMap<string, string>) =>
    local.filter(({ name, head }) => heads.get(name) === head).map(({ head }) => head);

  /** Notes on the connection how it went, and throws what was thrown. */
  async function noted<Value>(
    db: Database,
    deploymentId: number,
    work: () => Promise<Value>,
  ): Promise<Value> {
    try {
      const value = await withHost(work);
      await note(db, deploymentId, null);
      return value;
    } catch (error) {
      if (error instanceof ApiError && !OF_REQUEST.includes(error.code)) await note(db, deploymentId, error);
      throw error;
    }
  }

  /** Stores what is wrong, and tells webhooks, once for each problem. */
  const note = (db: Database, deploymentId: number, problem: ApiError | null) =>
    db.transaction(async (tx) => {
      const message = problem?.message ?? null;
      const checked = await store.updateChecked(tx, deploymentId, message);
      if (!problem || !checked || checked.before === message) return;
      const id = String(deploymentId);
      const data = { id, deploymentId, code: problem.code };
      const type = TOLD[problem.code] ?? 'git_connection.failed';
      await events.record(tx, [{ type, data, resource: `git_connection:${id}` }]);
    });

  async function syncAll(call: SyncCall, deploymentId: number, mustLook: boolean) {
    const { db, signal } = call;
    const local = await listSharedBranches(db, deploymentId);
    const names = local.map(({ name }) => name);
    await store.markOnlyThere(db.writes, deploymentId, names);
    const seen = await store.listRemoteHeads(db, deploymentId);
    // Most changes here are of files that are not committed yet.
    if (!mustLook && local.every(({ name, head }) => seen.get(name) === head)) return;
    await noted(db, deploymentId, async () => {
      const opened = await open(db, deploymentId);
      const { heads } = await opened.remote.listBranches(signal);
      const options = optionsFor(call, opened, sharedOf(local, heads));
      const failures: ApiError[] = [];
      for (const branch of local) {
        signal.throwIfAborted();
        const state = { remoteHead: heads.get(branch.name), seenHead: seen.get(branch.name) };
        // One branch that cannot be synced must not keep the others from it.
        await withHost(() => syncBranch(options, branch, state)).catch((error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          // Hosts delete branches whose work was merged. The one here is kept.
          if (error.code !== 'git_branch_removed' || branch.isDeploy) failures.push(error);
        });
      }
      if (opened.hasStatuses) await lookAtOthers(options, deploymentId, { heads, local });
      if (failures.length) throw failures[0];
    });
  }

  return {
    packs,

    pull: (call, deploymentId, branchName, acceptRewritten) =>
      inTurn(deploymentId, call.signal, () =>
        noted(call.db, deploymentId, async () => {
          const { db, signal } = call;
          const opened = await open(db, deploymentId);
          const local = await listSharedBranches(db, deploymentId);
          const branch = local.find(({ name, isDeploy }) =>
            branchName === null ? isDeploy : name === branchName,
          );
          // Read this before the heads: the push of a job in between must not look like a history that was replaced.
          const seen = await store.listRemoteHeads(db, deploymentId);
          const { heads } = await opened.remote.listBranches(signal);
          const options = { ...optionsFor(call, opened, sharedOf(local, heads)), acceptRewritten };
          if (!branch) {
            const head = branchName === null ? undefined : heads.get(branchName);
            const deploy = local.find(({ isDeploy }) => isDeploy);
            if (head === undefined || !deploy) {
              throw new ApiError('branch_not_found', {
                message: `Neither the data model nor the repository has a shared branch ${branchName}.`,
              });
            }
            await requireNotServed(db, deploymentId, branchName!);
            return createFromRemote(options, deploy, { name: branchName!, head });
          }
          const state = { remoteHead: heads.get(branch.name), seenHead: seen.get(branch.name) };
          return syncBranch(options, branch, state);
        }),
      ),

    removeBranch: ({ db, signal }, deploymentId, branchName) =>
      inTurn(deploymentId, signal, async () => {
        const forget = (tx: Tx) => store.deleteRemoteHead(tx, deploymentId, branchName);
        if (!(await store.findConnection(db, deploymentId))) return forget;
        const seen = (await store.listRemoteHeads(db, deploymentId)).get(branchName);
        await requireNotServed(db, deploymentId, branchName);
        await withHost(async () => {
          const { remote } = await open(db, deploymentId);
          const head = (await remote.listBranches(signal)).heads.get(branchName);
          if (head === undefined) return;
          // Commits that nobody here has seen must not be lost.
          if (head !== seen) {
            throw new ApiError('branch_changed', {
              message: `The git host has other commits on ${branchName} than were seen here: pull it first.`,
            });
          }
          await remote.push([{ branch: branchName, from: head, to: null }], undefined, signal);
        });
        return forget;
      }),

    job: {
      ...SYNC_JOB,
      async run({ deploymentId }, { db, signal, log }) {
        const request = await store.beginSync(db, deploymentId);
        if (!request) return 'done';
        const origin: Origin = {
          operation: 'pull',
          resourceType: 'branch',
          actor: NOBODY,
          deploymentId,
          embedTenantName: null,
          ip: null,
          requestId: null,
        };
        const call = { db, change: changeFunction(db, origin, { onChange }), author: AUTOMATIC, signal };
        try {
          await inTurn(deploymentId, signal, () => syncAll(call, deploymentId, request.mustLook));
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          // A person must fix these errors: the connection says what is wrong, and the next poll or change retries.
          log.warn(
            { deploymentId, code: error.code },
            'a deployment and its repository could not be brought together',
          );
        }
        return (await store.endSync(db, deploymentId, request.requestedAt)) ? 'done' : 'unfinished';
      },
    },
  };
}

/** What connecting needs to know of the repository. */
export interface DeployBranch {
  /** The branch that is deployed from now on. */
  branchName: string;
  /** Its newest commit; undefined if the repository does not have it. */
  remoteHead: string | undefined;
}

/** Chooses the branch. Throws if the repository has branches, but not the one that was asked for. */
export async function lookAt(
  remote: Remote,
  wanted: string | null,
  own: string,
  signal: AbortSignal,
): Promise<DeployBranch> {
  const { heads, defaultBranch } = await remote.listBranches(signal);
  const branchName = wanted ?? (heads.size ? (defaultBranch ?? own) : own);
  if (!isBranchName(branchName))
    throw invalid('deployBranchName', 'must be a name that git accepts', 'invalid_branch_name');
  const remoteHead = heads.get(branchName);
  if (heads.size && remoteHead === undefined) {
    throw new ApiError('branch_not_found', { message: `The repository has no branch ${branchName}.` });
  }
  return { branchName, remoteHead };
}

/**
 * Decides what becomes of the deploy branch when it is connected to a branch that has commits. Returns the commit that the
 * branch here gets, and the one that counts as seen there. `formerHead` is what was seen there before the deployment was
 * disconnected. Throws if commits of people would be lost, or those that were removed there would be pushed back.
 */
export async function placeOf(
  db: Database,
  branch: BranchRow,
  {
    branchName,
    remoteHead,
    formerHead,
    acceptRewritten,
  }: {
    branchName: string;
    remoteHead: string;
    formerHead: string | undefined;
    acceptRewritten: string | null;
  },
): Promise<{ head: string; seenHead: string }> {
  const objects = createObjects(db, branch.deploymentId);
  if (await isRewritten(objects, formerHead, remoteHead)) {
    if (acceptRewritten !== remoteHead) throw rewritten(branchName, formerHead!, remoteHead);
    return { head: remoteHead, seenHead: remoteHead };
  }
  const isUntouched = (await readCommit(objects, branch.head)).parents.length === 0;
  const base = await mergeBase(objects, branch.head, remoteHead);
  if (isUntouched || base === branch.head) return { head: remoteHead, seenHead: remoteHead };
  if (base === null) throw new ApiError('git_repository_unrelated');
  // Both have commits of their own: the job that follows merges them.
  return { head: branch.head, seenHead: base };
}

export const requireDeployed = async (db: Queryable, deploymentId: number): Promise<BranchRow> =>
  found(await findDeployBranch(db, deploymentId, null), 'branch_not_found');

/** As Standard Webhooks writes secrets. Other hosts take it as a text. */
export const newWebhookSecret = () => `whsec_${randomBytes(32).toString('base64')}`;
