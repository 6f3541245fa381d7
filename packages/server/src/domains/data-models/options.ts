import type { Texts } from '../../platform/git/text-work.ts';
import type { BranchTurns } from './branch-turns.ts';
import type { EnqueueBuild } from './branches.ts';

/** What the routes of this domain work with, beside the platform. */
export interface DataModelOptions {
  enqueueBuild: EnqueueBuild;
  branchTurns: BranchTurns;
  texts: Texts;
}
