/**
 * Changes of a folder tree take turns: in this process before they take a connection, then in the database, where
 * other processes are. A tree is of one deployment and one embed tenant, so that no customer waits for another.
 */
import type { Change, ChangeFunction, Committed } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { createTurns } from '../../platform/turns.ts';
import { requireHome, type Viewer } from '../access/index.ts';
import { lockTree, lockTreeShared, type Tree } from './store.ts';

/**
 * Runs the work in one transaction that holds the trees of these embed tenants, by their content keys; null stands for
 * the main workspace. The work is told what new content at the root belongs to.
 */
type TreeChange = <Reply>(
  change: ChangeFunction,
  viewer: Viewer,
  embedTenants: Iterable<string | null>,
  work: (tx: Tx, home: string | null) => Promise<{ reply: Reply; changes: Change | Change[] }>,
) => Promise<Committed<Reply>>;

export interface Trees {
  /** For what moves, renames or deletes folders: nothing else happens in the trees meanwhile. */
  change: TreeChange;
  /** For what adds folders: the trees hold still, and others may add to them at the same time. */
  extend: TreeChange;
}

const LIMITS = { togetherMax: 3, waitingMax: 8, waitMs: 5000 };

export function createTrees(): Trees {
  const turns = createTurns({ ...LIMITS, busy: () => new ApiError('tree_busy', { retryAfterSeconds: 1 }) });

  const taking =
    (turn: 'alone' | 'together', lock: (tx: Tx, tree: Tree) => Promise<unknown>): TreeChange =>
    (change, viewer, embedTenants, work) => {
      const trees = inOrder(viewer.deploymentId, embedTenants);
      const run = () =>
        change(async (tx) => {
          const home = await requireHome(tx, viewer);
          for (const tree of trees) await lock(tx, tree);
          return work(tx, home);
        });
      return trees.reduceRight((next, tree) => () => turns[turn](keyOf(tree), next), run)();
    };

  return { change: taking('alone', lockTree), extend: taking('together', lockTreeShared) };
}

const keyOf = ({ deploymentId, embedTenant }: Tree) => `${deploymentId} ${embedTenant ?? ''}`;

/** Each tree once, and in the same order for everybody: two that need the same trees do not wait for each other. */
const inOrder = (deploymentId: number, embedTenants: Iterable<string | null>): Tree[] =>
  [...new Set(embedTenants)]
    .sort((a, b) => ((a ?? '') < (b ?? '') ? -1 : 1))
    .map((embedTenant) => ({ deploymentId, embedTenant }));
