import type { ChangeFunction, CommittedReply } from '../../platform/audit/change.ts';
import type { Database, Tx } from '../../platform/db/database.ts';
import type { Texts } from '../../platform/git/text-work.ts';
import type { Author } from './authors.ts';
import type { BranchLock } from './branch-lock.ts';
import type { EnqueueBuild } from './branches.ts';
import type { BranchRow } from './store.ts';

/** What the routes of this domain work with, beside the platform. */
export interface DataModelOptions {
  enqueueBuild: EnqueueBuild;
  branchTurns: BranchLock;
  texts: Texts;
  /**
   * Brings a branch together with the connected repository. Without a name, the deploy branch. Returns the branch if it
   * moved here.
   */
  pull(
    call: { db: Database; change: ChangeFunction; author: Author; signal: AbortSignal },
    deploymentId: number,
    branchName: string | null,
    acceptRewritten?: string,
  ): Promise<CommittedReply<BranchRow> | undefined>;
  /** Deletes a branch of the connected repository, if there is one. Returns what belongs into the transaction that deletes it here. */
  removeRemoteBranch(
    call: { db: Database; signal: AbortSignal },
    deploymentId: number,
    branchName: string,
  ): Promise<(tx: Tx) => Promise<unknown>>;
}
