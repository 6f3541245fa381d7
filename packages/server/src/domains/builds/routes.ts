import { operations } from '@oriel/contract';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createObjects } from '../../platform/git/objects.store.ts';
import { handle } from '../../platform/http/routes.ts';
import { branchToRead, findBranch, treeOfCommit, visibleTree } from '../data-models/index.ts';
import { requireSettings, uploadBranch } from '../uploads/index.ts';
import { type Compiler, CompilerFailure } from './compiler.ts';
import { compileProject, findProject } from './project.ts';
import { badBranch, statusOf, toModelError } from './rules.ts';
import * as store from './store.ts';

/** Each check uses a thread and much memory, so few run at once, and one for each deployment. */
const turns = createAdmission({
  places: 2,
  sharerPlaces: 1,
  waitingMax: 200,
  sharerWaitingMax: 20,
  waitMs: 60_000,
});

export const buildRoutes = (compiler: Compiler) => [
  handle(
    operations.buildStatus,
    async ({ actor, db }, { params: { deploymentId }, query: { branchName } }) => {
      const where = { deploymentId, userId: actor.userId };
      // Without a name, the branch that an upload without a name goes to: tools wait here for what they deployed.
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
      const { errors, warnings, cubesCount } = await turns.take(
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
      if (!(error instanceof CompilerFailure)) throw error;
      const failure = { fileName: '', message: error.message, line: null, column: null };
      return { valid: false, errors: [failure], warnings: [], cubesCount: 0, branchName: branch.name };
    }
  }),
];
