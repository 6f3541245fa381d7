import { randomUUID } from 'node:crypto';
import { operations, type Upload } from '@oriel/contract';
import { changed } from '../../platform/audit/change.ts';
import { may, withoutAction } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { isBranchName } from '../../platform/git/names.ts';
import { handle } from '../../platform/http/routes.ts';
import { enqueue } from '../../platform/jobs/jobs.ts';
import { findJobProgress } from '../../platform/jobs/store.ts';
import type { Box } from '../../platform/secrets/box.ts';
import {
  createBranch,
  findBranch,
  lockBranch,
  requireBranchName,
  requireDataModelLock,
  requireDeployBranch,
  requireStagingAllowed,
  shownInAudit,
} from '../data-models/index.ts';
import { lockInstallation } from '../git-hosts/index.ts';
import { DbtError, type DbtWork } from './dbt-work.ts';
import { DEFAULTS, type RepositorySettings, type SourceSettings, settingsOf } from './source.ts';
import * as store from './store.ts';
import { GIVEN_UP, requireSyncable, STAGES, type Stage, type SyncJob, stageWords } from './sync-job.ts';

const DEFAULT_BRANCH = 'dbt-sync';
/** How many syncs of a deployment that have ended are kept. */
const KEEP = 50;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const refuseRunning = refusing({ model_syncs_running_key: 'model_sync_running' });

const shownManifest = ({ summary, uploadedAt }: store.ManifestRow) => ({ ...summary, uploadedAt });

interface Options {
  job: SyncJob;
  work: DbtWork;
  box: Box;
  allowPrivate: boolean;
}

export const modelSyncRoutes = ({ job, work, box, allowPrivate }: Options) => [
  handle(operations.getModelSyncSource, async ({ db }, { params: { deploymentId } }) => {
    const source = await store.findSource(db, deploymentId);
    const manifest = await store.findManifest(db, deploymentId);
    return { ...shownSource(source), manifest: manifest ? shownManifest(manifest) : null };
  }),

  handle(operations.updateModelSyncSource, ({ actor, change }, { params: { deploymentId }, body }) => {
    const settings = settingsOf(body, { allowPrivate });
    const given = body.repository?.token ?? null;
    return change(async (tx) => {
      found(await store.holdDeployment(tx, deploymentId), 'deployment_not_found');
      const before = await store.lockSource(tx, deploymentId);
      await requireRepositoryAllowed(tx, actor, before.settings?.repository ?? null, settings.repository);
      const token = given === null ? storedToken(before, settings) : sealed(box, given);
      const after = { ...before, settings, ...token };
      await store.upsertSource(tx, deploymentId, after);
      const manifest = await store.findManifest(tx, deploymentId);
      const changes = changed(shownSource(before), { id: deploymentId, ...shownSource(after) });
      return {
        reply: { ...shownSource(after), manifest: manifest ? shownManifest(manifest) : null },
        // A new token in the place of another is a change, although neither is shown.
        changes: given === null ? changes : { ...changes, after: { ...changes.after, token: 'new' } },
      };
    });
  }),

  handle(
    operations.uploadModelSyncManifest,
    async ({ change, signal }, { params: { deploymentId }, body: { files } }) => {
      const [manifest, catalog] = [files.manifest[0]!, files.catalog?.[0]];
      const { digest, models, sources, projectName, dbtVersion, schemaVersion, ...checked } = await work
        .check(
          async () => ({
            manifest: await shared(manifest),
            catalog: catalog && (await shared(catalog)),
          }),
          { deploymentId, signal },
        )
        .catch((error) => {
          if (!(error instanceof DbtError)) throw error;
          throw new ApiError('invalid_dbt_files', { message: error.message });
        });
      const compressed = {
        manifest: Buffer.from(checked.manifest),
        catalog: checked.catalog ? Buffer.from(checked.catalog) : null,
      };
      const summary: store.ManifestSummary = {
        ...{ projectName, dbtVersion, schemaVersion, models, sources, digest },
        bytes: manifest.size,
        hasCatalog: catalog !== undefined,
      };
      return change(async (tx) => {
        found(await store.holdDeployment(tx, deploymentId), 'deployment_not_found');
        const before = await store.lockManifest(tx, deploymentId);
        const after = await store.upsertManifest(tx, deploymentId, compressed, summary);
        return {
          reply: shownManifest(after),
          changes: {
            id: deploymentId,
            before: before ? shownManifest(before) : null,
            after: shownManifest(after),
          },
        };
      });
    },
  ),

  handle(operations.startModelSync, ({ actor, change, origin }, { params: { deploymentId }, body }) => {
    const branchName = body.branchName ?? DEFAULT_BRANCH;
    const ref = body.ref ?? null;
    if (ref !== null && !isBranchName(ref))
      throw invalid('ref', 'must be the name of a branch or tag, or a commit');
    requireBranchName(branchName);
    return change(async (tx) => {
      found(await store.holdDeployment(tx, deploymentId), 'deployment_not_found');
      const { settings } = await store.findSource(tx, deploymentId);
      if (settings?.kind !== 'repository') {
        if (ref !== null) {
          throw invalid(
            'ref',
            'is for projects in a repository: a sync with an uploaded manifest takes that manifest',
          );
        }
        found(await store.findManifest(tx, deploymentId), 'no_dbt_manifest');
      }
      const { branch, created } = await branchFor(tx, actor, deploymentId, branchName);
      await store.endAbandoned(tx, branch.id, GIVEN_UP);
      const id = randomUUID();
      const { id: jobId } = await enqueue(tx, job, { deploymentId, syncId: id, ref });
      const { userId, apiKeyId } = actor;
      const { ip, requestId } = origin;
      const sync = {
        id,
        deploymentId,
        branchId: branch.id,
        branchName,
        userId,
        apiKeyId,
        ip,
        requestId,
        jobId,
      };
      await store.insertSync(tx, sync).catch(refuseRunning);
      await store.deleteOldSyncs(tx, deploymentId, KEEP);
      return {
        reply: { branchName, syncJobId: id, workflowId: String(jobId) },
        changes: [
          ...(created
            ? [{ resourceType: 'branch', id: branch.id, before: null, after: shownInAudit(branch) }]
            : []),
          { id, before: null, after: { branchName, state: 'running' } },
        ],
      };
    });
  }),

  handle(operations.getModelSyncStatus, async ({ db }, { params: { deploymentId, syncJobId } }) => {
    const sync = await requireSync(syncJobId, (id) => store.findSync(db, deploymentId, id));
    const state = stateOf(sync);
    const run = await findJobProgress(db, sync.jobId);
    const stage = state === 'completed' ? 'done' : ((run?.progress?.message ?? 'queued') as Stage);
    return {
      syncJobId: sync.id,
      status: STATUSES[state],
      progress: { stage, percentComplete: STAGES[stage] ?? 0, message: stageWords(stage) ?? null },
      error: state === 'failed' ? (sync.error ?? GIVEN_UP) : null,
      updatedAt: sync.finishedAt ?? new Date().toISOString(),
    };
  }),

  handle(operations.getModelSyncResult, async ({ db }, { params: { deploymentId, syncJobId } }) => {
    const sync = await requireSync(syncJobId, (id) => store.findSync(db, deploymentId, id));
    const { result, durationMs } = found(
      await store.findResult(db, deploymentId, sync.id),
      'model_sync_not_found',
    );
    if (result === null || sync.finishedAt === null) {
      const message = `This sync has no result: it is ${STATUSES[stateOf(sync)]}.`;
      throw new ApiError('model_sync_not_completed', { message });
    }
    const { id, branchName, finishedAt } = sync;
    const { sourceCommit = null } = result;
    const shown = { ...result, sourceCommit, syncJobId: id, branchName };
    return { ...shown, completedAt: finishedAt, durationMs: durationMs ?? 0 };
  }),

  handle(operations.cancelModelSync, ({ change }, { params: { deploymentId, syncJobId } }) =>
    change(async (tx) => {
      const sync = await requireSync(syncJobId, (id) => store.lockSync(tx, deploymentId, id));
      const isEnded =
        stateOf(sync) !== 'running' || !(await store.endSync(tx, sync.id, { state: 'cancelled' }));
      if (isEnded) throw new ApiError('model_sync_finished');
      const { id, branchName } = sync;
      return {
        reply: { message: `The sync to ${branchName} was cancelled.` },
        changes: { id, before: { state: 'running' }, after: { state: 'cancelled' } },
      };
    }),
  ),
];

/** The source as replies and the audit log show it: without the token. */
function shownSource({ settings, token }: store.SourceRow) {
  const { repository = null, ...rest } = settings ?? DEFAULTS;
  return { ...rest, repository: repository && { ...repository, hasCredential: token !== null } };
}

const NO_TOKEN = { tokenId: null, token: null };

function sealed(box: Box, token: string) {
  const tokenId = randomUUID();
  return { tokenId, token: box.seal(tokenId, Buffer.from(token)) };
}

/** A stored token goes to the address that it was given for, and to no other. */
function storedToken({ settings: before, tokenId, token }: store.SourceRow, { repository }: SourceSettings) {
  if (token === null || !repository || repository.url === null) return NO_TOKEN;
  if (before?.repository?.url === repository.url) return { tokenId, token };
  throw invalid('repository.token', 'must be given again, because the address is another one');
}

/** A connection may reach repositories that the caller may not know of. */
async function requireRepositoryAllowed(
  tx: Tx,
  actor: Person,
  before: RepositorySettings | null,
  after: RepositorySettings | null | undefined,
) {
  if (!after || after.installationId === null) return;
  found(await lockInstallation(tx, after.installationId), 'git_installation_not_found');
  if (before?.installationId === after.installationId && before.name === after.name) return;
  if (actor.deploymentIds !== null) throw new ApiError('outside_key_scope');
  if (!may(actor, 'DeploymentsManage')) throw withoutAction('DeploymentsManage');
}

const STATUSES = {
  running: 'RUNNING',
  completed: 'COMPLETED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
} as const satisfies Record<store.SyncState, string>;

/** A sync whose job was given up has failed, even if its row still says that it runs. */
const stateOf = ({ state, hasJob }: { state: store.SyncState; hasJob: boolean }): store.SyncState =>
  state === 'running' && !hasJob ? 'failed' : state;

const requireSync = async <Row>(
  given: string,
  find: (id: string) => Promise<Row | undefined>,
): Promise<Row> => found(UUID.test(given) ? await find(given) : undefined, 'model_sync_not_found');

/** The branch that a sync goes to, locked. It is created at the newest commit of the deploy branch if it is not there. */
async function branchFor(tx: Tx, actor: Person, deploymentId: number, name: string) {
  const where = { deploymentId, userId: actor.userId };
  await requireDataModelLock(tx, deploymentId);
  const known = await findBranch(tx, deploymentId, actor.userId, { branchName: name });
  if (!known) {
    const parent = await requireDeployBranch(tx, where);
    return { branch: await createBranch(tx, where, { name, parent }), created: true };
  }
  const branch = await lockBranch(tx, where, known.id);
  requireSyncable(branch);
  requireStagingAllowed(actor, branch);
  return { branch, created: false };
}

/** The bytes of a file in memory that a thread can read. */
async function shared(file: Upload): Promise<SharedArrayBuffer> {
  const memory = new SharedArrayBuffer(file.size);
  const bytes = new Uint8Array(memory);
  let at = 0;
  for await (const chunk of file.stream()) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return memory;
}
