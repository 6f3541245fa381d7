/** Which branch an upload goes to, and what finishing one does. */
import { mayIn, withoutAction } from '../../platform/auth/access.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { writeCommit } from '../../platform/git/commits.ts';
import { createObjects, listDigests } from '../../platform/git/objects.store.ts';
import { editTree, listTree } from '../../platform/git/trees.ts';
import {
  applyEdits,
  authorOf,
  type BranchRow,
  type BranchScope,
  currentTree,
  type Edits,
  type Files,
  findEnteredBranch,
  findModelSettings,
  type ModelSettings,
  messageOf,
  requireBranch,
  requireDeployBranch,
  requireDevMode,
  requireNoClashes,
  requireWithinLimits,
  treeOfCommit,
} from '../data-models/index.ts';
import { below, digestOf, type FinishRequest, planFinish } from './rules.ts';
import * as store from './store.ts';

export const requireSettings = async (db: Queryable, deploymentId: number) =>
  found(await findModelSettings(db, deploymentId), 'deployment_not_found');

/**
 * Without a name it is the deploy branch, if the deployment is deployed by uploads: a person may be in dev mode in the
 * browser while their key deploys. Otherwise, and with `live`, it is the branch that the caller entered last.
 */
export async function uploadBranch(
  db: Queryable,
  where: BranchScope,
  { deployMode }: ModelSettings,
  { branchName, live }: { branchName?: string | null | undefined; live?: boolean | null | undefined },
): Promise<BranchRow> {
  if (branchName) return requireBranch(db, where, { branchName });
  const entered =
    live || deployMode !== 'cli' ? await findEnteredBranch(db, where.deploymentId, where.userId) : undefined;
  return entered ?? requireDeployBranch(db, where);
}

/** Throws unless the caller may upload to this branch. */
export function requireUploadable(
  actor: Person,
  branch: BranchRow,
  { deployMode, isReadOnly }: ModelSettings,
  isLive: boolean,
): void {
  if (!branch.isDeploy || isLive) {
    requireDevMode(actor, branch);
    return;
  }
  // A deployment without a deploy mode gets it with its first upload.
  if (deployMode === 'git') {
    throw new ApiError('not_in_dev_mode', {
      message: `${branch.name} is the deploy branch: the \`deployMode\` of this deployment is \`git\`, and uploads to it need \`cli\`. Upload to a branch in dev mode, or change the setting.`,
    });
  }
  if (!mayIn(actor, branch.deploymentId, 'SchemaUpdate')) throw withoutAction('SchemaUpdate');
  if (isReadOnly) throw new ApiError('deploy_branch_read_only');
}

export const requireUpload = async (
  db: Queryable,
  { deploymentId, userId }: BranchScope,
  id: string | undefined,
) =>
  found(
    id === undefined ? undefined : await store.findUpload(db, deploymentId, userId, id),
    'upload_not_found',
  );

/** Throws if the branch is not as it was when the upload started. */
export function requireSameBase({ baseHead, baseWorkingTree }: store.UploadRow, branch: BranchRow): void {
  if (branch.head === baseHead && branch.workingTree === baseWorkingTree) return;
  throw new ApiError('branch_changed', {
    message: `Somebody else changed the branch ${branch.name} after this upload was started: start a new one.`,
  });
}

/** What a finished upload answers. Returns nothing if it is not finished, and throws if it was by another request. */
export function finishedReply(
  { finishedHead, finishedRequest }: store.UploadRow,
  request: FinishRequest,
): { lastHash: string } | undefined {
  if (finishedHead === null) return undefined;
  if (finishedRequest !== digestOf(request)) throw new ApiError('upload_finished');
  return { lastHash: finishedHead };
}

export interface FinishedUpload {
  head: string;
  workingTree: string | null;
  uploadedTree: string;
  before: Files;
  edits: Edits;
}

/** Computes the new state of the branch, and writes its objects. Nobody sees them before the branch refers to them. */
export async function computeFinish(
  db: Database,
  where: BranchScope,
  upload: store.UploadRow,
  branch: BranchRow,
  { wanted, removesOthers, message }: FinishRequest,
): Promise<FinishedUpload> {
  const { deploymentId, userId } = where;
  const { root } = upload;
  const objects = createObjects(db, deploymentId);
  const base = await currentTree(objects, branch);
  const before = await listTree(objects, base);
  const present = below(root, before);
  const plan = planFinish({
    present,
    blobByDigest: await knownBlobs(db, deploymentId, upload.id, present),
    wanted,
    removesOthers,
  });
  if (plan.unknown.length) throw unknownHashes(plan.unknown);
  const edits: Edits = new Map([...plan.edits].map(([path, blob]) => [root + path, blob]));
  const after = applyEdits(before, edits);
  requireNoClashes(before, after, (path) => `files.${path.slice(root.length)}`);
  await requireWithinLimits(db, deploymentId, after);
  const tree = await editTree(objects, base, edits);
  const isCommitted = tree === (await treeOfCommit(objects, branch.head));
  if (upload.isLive || isCommitted) {
    const workingTree = isCommitted ? null : tree;
    return { head: branch.head, workingTree, uploadedTree: tree, before, edits };
  }
  const head = await writeCommit(objects, {
    tree,
    parents: [branch.head],
    author: { ...(await authorOf(db, userId)), at: new Date() },
    message: messageOf(message, `Upload the data model`),
  });
  return { head, workingTree: null, uploadedTree: tree, before, edits };
}

/** The blobs of the branch and of the upload, by the SHA-1 of their bytes. */
async function knownBlobs(db: Database, deploymentId: number, uploadId: string, present: Files) {
  const known = new Map<string, string>();
  for (const [blob, digest] of await listDigests(db, deploymentId, present.values())) known.set(digest, blob);
  for (const { blob, digest } of await store.listFiles(db, uploadId)) known.set(digest, blob);
  return known;
}

const NAMED_MAX = 20;

function unknownHashes(paths: readonly string[]): ApiError {
  const named = paths.slice(0, NAMED_MAX);
  const more = paths.length > NAMED_MAX ? ` and ${paths.length - NAMED_MAX} more` : '';
  return new ApiError('unknown_file_hashes', {
    message: `These files were neither sent in this upload nor are they on the branch: ${named.join(', ')}${more}.`,
    issues: named.map((path) => ({ path: `files.${path}`, message: 'nobody sent a file with this hash' })),
  });
}
