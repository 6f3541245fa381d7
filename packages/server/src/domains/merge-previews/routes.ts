import { operations } from '@oriel/contract';
import type { ChangedPart } from '@oriel/semantic';
import { createAdmission } from '../../platform/admission/admission.ts';
import type { Texts } from '../../platform/git/text-work.ts';
import { handle } from '../../platform/http/routes.ts';
import { viewerOf } from '../access/index.ts';
import { type CheckTree, toModelError } from '../builds/index.ts';
import { authorOf, branchMeant, previewTree, requireParent } from '../data-models/index.ts';
import { findImpact } from './impact.ts';

const CONFLICTS_MAX = 100;
const ERRORS_MAX = 20;
const CHANGES_MAX = 500;

/** Each preview compiles two models, so few run at once, and one for each deployment. */
const admission = createAdmission({
  places: 2,
  sharerPlaces: 1,
  waitingMax: 200,
  sharerWaitingMax: 20,
  waitMs: 60_000,
});

const NOTHING = {
  conflicts: [],
  errors: [],
  changes: [],
  reports: [],
  dashboards: [],
  schedules: [],
  hiddenCount: 0,
  isComplete: true,
};

export const mergePreviewRoutes = ({ texts, checkTree }: { texts: Texts; checkTree: CheckTree }) => [
  handle(operations.previewMerge, async ({ actor, db, signal }, { params: { deploymentId }, query }) => {
    const where = { deploymentId, userId: actor.userId };
    const source = await branchMeant(db, where, { branchName: query.branchName });
    const target = await requireParent(db, where, source);
    const names = { branchName: source.name, parentBranch: target.name };
    const author = await authorOf(db, actor.userId);
    const preview = async () => {
      const trees = await previewTree(db, source, target, { texts, signal, author });
      if ('conflicts' in trees)
        return { ...NOTHING, ...names, conflicts: trees.conflicts.slice(0, CONFLICTS_MAX) };
      if (trees.before === trees.after) return { ...NOTHING, ...names };
      const { errors, meaning } = await checkTree(db, deploymentId, trees, signal);
      if (!meaning) return { ...NOTHING, ...names, errors: errors.slice(0, ERRORS_MAX).map(toModelError) };
      const impact = await findImpact(db, deploymentId, viewerOf(actor, deploymentId), meaning, signal);
      return {
        ...NOTHING,
        ...names,
        ...impact,
        changes: meaning.changes.slice(0, CHANGES_MAX).map(toChange),
        isComplete: impact.isComplete && meaning.changes.length <= CHANGES_MAX,
      };
    };
    return admission.take({ sharer: String(deploymentId), signal }, preview);
  }),
];

const toChange = ({ cube, member, what, change, keys }: ChangedPart) => ({
  name: member === undefined ? cube : `${cube}.${member}`,
  what,
  change,
  keys: [...keys],
});
