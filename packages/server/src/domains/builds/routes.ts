import { operations } from '@oriel/contract';
import { createAdmission } from '../../platform/admission/admission.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import {
  type BranchScope,
  branchToRead,
  type EnqueueBuild,
  findBranch,
  isBuilt,
  lockBranch,
  requireBranch,
  requireDeployBranch,
  treeOfCommit,
  visibleTree,
} from '../data-models/index.ts';
import { requireSettings, uploadBranch } from '../uploads/index.ts';
import { type Compiler, CompilerError } from './compiler.ts';
import { compileProject, findProject } from './project.ts';
import { badBranch, statusOf, toBuild, toModelError } from './rules.ts';
import * as store from './store.ts';

/** Each check uses a thread and much memory, so few run at once, and one for each deployment. */
const admission = createAdmission({
  places: 2,
  sharerPlaces: 1,
  waitingMax: 200,
  sharerWaitingMax: 20,
  waitMs: 60_000,
});

interface BuildOptions {
  compiler: Compiler;
  enqueueBuild: EnqueueBuild;
  cursors: Cursors;
}

/** The branch that was named, or the deploy branch. */
const namedBranch = (db: Queryable, where: BranchScope, branchName: string | null | undefined) =>
  branchName == null ? requireDeployBranch(db, where) : requireBranch(db, where, { branchName });

export const buildRoutes = ({ compiler, enqueueBuild, cursors }: BuildOptions) => [
  handle(operations.listBuilds, async ({ actor, db }, { params: { deploymentId }, query }) => {
    const branch = await namedBranch(db, { deploymentId, userId: actor.userId }, query.branchName);
    const list = `builds of branch ${branch.id}`;
    const size = pageSize(query.first);
    const beforeId = query.after ? (cursors.decode(list, query.after)[0] as number) : null;
    const rows = await store.listBuilds(db, branch.id, { beforeId, limit: size + 1 });
    const page = toPage(rows, { size, after: query.after, cursorOf: ({ id }) => cursors.encode(list, [id]) });
    return { ...page, items: page.items.map((build) => toBuild(branch, build)) };
  }),

  handle(operations.startBuild, ({ actor, change }, { params: { deploymentId }, body }) =>
    change(async (tx) => {
      const where = { deploymentId, userId: actor.userId };
      const { id } = await namedBranch(tx, where, body?.branchName);
      const branch = await lockBranch(tx, where, id);
      if (!isBuilt(branch)) throw new ApiError('branch_not_active');
      await enqueueBuild(tx, { deploymentId, branchId: id });
      const [newest] = await store.listBuilds(tx, id, { beforeId: null, limit: 1 });
      return {
        reply: toBuild(branch, newest!),
        changes: { id: newest!.id, before: null, after: { branchName: branch.name } },
      };
    }),
  ),

  handle(
    operations.buildStatus,
    async ({ actor, db }, { params: { deploymentId }, query: { branchName } }) => {
      const where = { deploymentId, userId: actor.userId };
      // Without a name, use the branch of an upload without a name: tools wait here for what they deployed.
      const branch =
        branchName == null
          ? await uploadBranch(db, where, await requireSettings(db, deploymentId), {})
          : await findBranch(db, deploymentId, actor.userId, { branchName });
      if (!branch) return badBranch(deploymentId, branchName!);
      const newest = await store.findNewestBuild(db, branch.id);
      return statusOf(branch, newest, await store.findLastGoodBuild(db, branch.id));
    },
  ),

  handle(operations.validateDataModel, async ({ actor, db, signal }, { params: { deploymentId }, query }) => {
    const { branchName, devMode } = query;
    const where = { deploymentId, userId: actor.userId };
    // A person who is in dev mode checks their own work here, also if tools deploy by uploads.
    const branch = await branchToRead(db, where, { branchName });
    const objects = createObjects(db, deploymentId);
    const tree = await (devMode === false
      ? treeOfCommit(objects, branch.head)
      : visibleTree(objects, branch));
    const check = async () => compileProject(compiler, db, await findProject(db, deploymentId, tree), signal);
    try {
      const { errors, warnings, cubesCount } = await admission.take(
        { sharer: String(deploymentId), signal },
        check,
      );
      return {
        valid: errors.length === 0,
        errors: errors.map(toModelError),
        warnings: warnings.map(toModelError),
        cubesCount,
        branchName: branch.name,
      };
    } catch (error) {
      if (!(error instanceof CompilerError)) throw error;
      const failure = { fileName: '', message: error.message, line: null, column: null };
      return { valid: false, errors: [failure], warnings: [], cubesCount: 0, branchName: branch.name };
    }
  }),
];
