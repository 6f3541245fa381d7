/**
 * Changes of a folder tree run one after another. They wait first in this process, before they take a connection, and
 * then in the database for other processes. Each embed tenant has its own tree in each deployment, so that no customer
 * waits for another.
 */
import { createAdmission, notNow } from '../../platform/admission/admission.ts';
import type { Change, ChangeFunction, CommittedReply } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { requireHome, type Viewer } from '../access/index.ts';
import { lockTree, lockTreeShared, type Tree } from './store.ts';

/**
 * Runs `work` in one transaction that locks the trees of these embed tenants, which are given by their content keys; null
 * is the main workspace. `home` is the content key that new content at the root belongs to.
 */
type TreeChange = <Reply>(
  change: ChangeFunction,
  viewer: Viewer,
  embedTenants: Iterable<string | null>,
  work: (tx: Tx, home: string | null) => Promise<{ reply: Reply; changes: Change | Change[] }>,
) => Promise<CommittedReply<Reply>>;

export interface Trees {
  /** For work that moves, renames or deletes folders: no other change of the trees runs at the same time. */
  change: TreeChange;
  /** For work that adds folders: other requests may add folders at the same time, but not change the trees. */
  extend: TreeChange;
}

const LIMITS = { places: 3, waitingMax: 8 };
const WAIT_MS = 5000;

export function createTrees(waitMs = WAIT_MS): Trees {
  const admission = createAdmission({
    ...LIMITS,
    waitMs,
    refusal: (excess) => notNow(excess, 'These folders are being changed by another request: try again.'),
  });

  const taking =
    (isAlone: boolean, lock: (tx: Tx, tree: Tree) => Promise<unknown>): TreeChange =>
    (change, viewer, embedTenants, work) => {
      const trees = inOrder(viewer.deploymentId, embedTenants);
      const run = () =>
        change(async (tx) => {
          const home = await requireHome(tx, viewer);
          for (const tree of trees) await lock(tx, tree);
          return work(tx, home);
        });
      return trees.reduceRight(
        (next, tree) => () => admission.take({ key: keyOf(tree), isAlone }, next),
        run,
      )();
    };

  return { change: taking(true, lockTree), extend: taking(false, lockTreeShared) };
}

const keyOf = ({ deploymentId, embedTenant }: Tree) => `${deploymentId} ${embedTenant ?? ''}`;

/** Each tree once, and always in the same order, so that two requests for the same trees do not wait for each other. */
const inOrder = (deploymentId: number, embedTenants: Iterable<string | null>): Tree[] =>
  [...new Set(embedTenants)]
    .sort((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))
    .map((embedTenant) => ({ deploymentId, embedTenant }));
