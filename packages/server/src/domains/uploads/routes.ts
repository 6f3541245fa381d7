import { createHash } from 'node:crypto';
import { dataModelLimits, operations } from '@oriel/contract';
import type { Database } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, found, invalid } from '../../platform/errors.ts';
import { createObjects, listFileDigests } from '../../platform/git/objects.store.ts';
import { handle } from '../../platform/http/routes.ts';
import {
  type BranchLock,
  type BranchScope,
  composed,
  contentProblem,
  type EnqueueBuild,
  fileEntries,
  lockBranch,
  moveBranch,
  pathProblem,
  requireBranch,
  requirePaths,
  requireRoom,
  rootOf,
  settleDeployMode,
  uncommitted,
  visibleTree,
} from '../data-models/index.ts';
import { below, digestOf, type FinishRequest, transactionId } from './rules.ts';
import * as store from './store.ts';
import {
  computeFinish,
  finishedReply,
  requireSameBase,
  requireSettings,
  requireUpload,
  requireUploadable,
  uploadBranch,
} from './uploads.ts';

/** More uploads to one branch end the oldest ones. So tools that fail half-way never block others. */
const OPEN_MAX = 10;

export const uploadRoutes = (enqueueBuild: EnqueueBuild, inTurn: BranchLock) => [
  handle(operations.fileHashes, async ({ actor, db }, { params: { deploymentId }, query }) => {
    const settings = await requireSettings(db, deploymentId);
    const branch = await uploadBranch(db, { deploymentId, userId: actor.userId }, settings, query);
    const objects = createObjects(db, deploymentId);
    const root = query.useDeployProjectRoot ? rootOf(settings.deployProjectRoot) : '';
    const digests = await listFileDigests(db, deploymentId, await visibleTree(objects, branch));
    return root ? Object.fromEntries(below(root, new Map(Object.entries(digests)))) : digests;
  }),

  handle(operations.startUpload, ({ actor, change }, { params: { deploymentId }, query, body }) => {
    const where = { deploymentId, userId: actor.userId };
    const asked = mergedQuery(query, body);
    const isLive = asked.live === true;
    return change(async (tx) => {
      const settings = await requireSettings(tx, deploymentId);
      const branch = await uploadBranch(tx, where, settings, asked);
      requireUploadable(actor, branch, settings, isLive);
      if (branch.isDeploy && !isLive) {
        const deployMode = await settleDeployMode(tx, deploymentId, 'cli');
        requireUploadable(actor, branch, { ...settings, deployMode }, isLive);
      }
      // The commit would hold the changes of others, or drop them.
      if (!isLive && !branch.isDeploy && branch.workingTree !== null) throw uncommitted(branch);
      const usesRoot = asked.useDeployProjectRoot === true;
      const upload = await store
        .insertUpload(tx, {
          ...where,
          branchId: branch.id,
          baseHead: branch.head,
          baseWorkingTree: branch.workingTree,
          isLive,
          root: usesRoot ? rootOf(settings.deployProjectRoot) : '',
          usesRoot,
        })
        .catch(refusing({ uploads_branch_id_fkey: 'branch_not_found' }));
      await store.endOldest(tx, branch.id, OPEN_MAX);
      const { id } = upload;
      return {
        reply: { deploymentName: settings.deploymentName, transaction: { id } },
        changes: { id, before: null, after: { branchName: branch.name, isLive, root: upload.root } },
      };
    });
  }),

  handle(operations.uploadFile, async ({ actor, db }, { params: { deploymentId }, query, body }) => {
    const where = { deploymentId, userId: actor.userId };
    const { fields, files } = body;
    const upload = await requireUpload(db, where, transactionId(fields.transaction));
    if (upload.finishedHead !== null) throw new ApiError('upload_finished');
    requireAsStarted(upload, query);
    await requireNamedBranch(db, where, upload, [query.branchName]);
    const path = composed(fields.fileName);
    const problem = pathProblem(path) ?? pathProblem(upload.root + path);
    if (problem) throw invalid('fileName', problem, 'invalid_file');
    const content = Buffer.from(await files.file[0]!.bytes());
    const refused = contentProblem(path, content);
    if (refused) throw invalid('file', `${path} ${refused}`, 'invalid_file');
    await addFile(db, where, upload.id, { path, content });
    return { success: true };
  }),

  handle(
    operations.finishUpload,
    async ({ actor, db, change, signal }, { params: { deploymentId }, query, body }) => {
      const where = { deploymentId, userId: actor.userId };
      const paths = Object.keys(body.files);
      const stored = requirePaths(paths, (i) => `files.${paths[i]}`);
      const request: FinishRequest = {
        wanted: new Map(stored.map((path, i) => [path, body.files[paths[i]!]!.hash.toLowerCase()])),
        removesOthers: body.autoRemoveFiles !== false,
        message: body.commitMessage,
      };
      const id = transactionId(body.transaction);
      const started = await requireUpload(db, where, id);
      requireAsStarted(started, query);
      await requireNamedBranch(db, where, started, [body.branchName, query.branchName]);
      const finish = async () => {
        const branch = await requireBranch(db, where, { branchId: started.branchId });
        // Read after the branch: a branch that this upload has changed already was not changed by somebody else.
        const upload = await requireUpload(db, where, id);
        const finished = finishedReply(upload, request);
        if (finished) return change(async () => ({ reply: finished, changes: [] }));
        requireUploadable(actor, branch, await requireSettings(db, deploymentId), upload.isLive);
        requireSameBase(upload, branch);
        await requireRoom(db, deploymentId);
        const { before, edits, ...state } = await computeFinish(db, where, upload, branch, request);
        return change(async (tx) => {
          const now = await lockBranch(tx, where, branch.id);
          const locked = await store.lockUpload(tx, deploymentId, actor.userId, upload.id);
          const reply = finishedReply(found(locked, 'upload_not_found'), request);
          if (reply) return { reply, changes: [] };
          requireSameBase(upload, now);
          requireUploadable(actor, now, await requireSettings(tx, deploymentId), upload.isLive);
          const moved = await moveBranch(tx, now, state, enqueueBuild);
          await store.finishUpload(tx, {
            ...upload,
            finishedHead: state.head,
            finishedRequest: digestOf(request),
          });
          return {
            reply: { lastHash: state.head },
            changes: [{ ...moved, resourceType: 'branch' }, ...fileEntries(now, before, edits)],
          };
        });
      };
      return inTurn([started.branchId], signal, finish);
    },
  ),
];

interface UploadRequest {
  branchName?: string | null | undefined;
  live?: boolean | null | undefined;
  useDeployProjectRoot?: boolean | null | undefined;
}

/** Tools send the same fields in the address or in the body. */
function mergedQuery(query: UploadRequest, body: UploadRequest): UploadRequest {
  for (const name of ['branchName', 'live', 'useDeployProjectRoot'] as const) {
    if (query[name] != null && body[name] != null && query[name] !== body[name])
      throw invalid(name, 'is different in the address and in the body');
  }
  return {
    branchName: body.branchName ?? query.branchName,
    live: body.live ?? query.live,
    useDeployProjectRoot: body.useDeployProjectRoot ?? query.useDeployProjectRoot,
  };
}

/** Throws if a request says something else than the start of the upload. */
function requireAsStarted(
  { isLive, usesRoot }: store.UploadRow,
  { live, useDeployProjectRoot }: UploadRequest,
) {
  if (live != null && live !== isLive)
    throw invalid('live', `must be ${isLive}, as at the start of the upload`);
  if (useDeployProjectRoot != null && useDeployProjectRoot !== usesRoot)
    throw invalid('useDeployProjectRoot', `must be ${usesRoot}, as at the start of the upload`);
}

/** Throws if a request names another branch than that of the upload. */
async function requireNamedBranch(
  db: Database,
  where: BranchScope,
  { branchId }: store.UploadRow,
  names: readonly (string | null | undefined)[],
) {
  if (names.every((name) => name == null)) return;
  const branch = await requireBranch(db, where, { branchId });
  if (names.some((name) => name != null && name !== branch.name))
    throw invalid('branchName', `must be ${branch.name}, to which the upload was started`);
}

/** A file is counted before it is stored, and stays counted if it is replaced, because it is removed only later. */
async function addFile(
  db: Database,
  { deploymentId }: BranchScope,
  id: string,
  { path, content }: { path: string; content: Buffer },
) {
  const bytes = content.length;
  const max = { files: dataModelLimits.sentFiles, bytes: dataModelLimits.sentBytes };
  if (!(await store.countSent(db, id, bytes, max))) throw new ApiError('upload_too_large');
  await requireRoom(db, deploymentId, bytes);
  const [blob] = await createObjects(db, deploymentId).write([{ type: 'blob', content }]);
  const digest = createHash('sha1').update(content).digest('hex');
  if (!(await store.upsertFile(db, id, { path, blob: blob!, digest, bytes })))
    throw new ApiError('upload_not_found');
}
