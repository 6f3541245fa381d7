/** The best common ancestors of two commits, in the order in which git finds them. */
import { ApiError } from '../errors.ts';
import { createYielder } from '../yielder.ts';
import { type Commit, createHistory } from './commits.ts';
import type { Hash, Objects } from './objects.ts';

/** What a merge needs to know of a commit. Merges of several bases make commits that exist only in memory. */
export type HistoryNode = Pick<Commit, 'hash' | 'parents'> & { seconds: number; tree: Hash };

export type FindNode = (hash: Hash) => Promise<HistoryNode>;

export function historyNodes(objects: Objects): FindNode {
  const find = createHistory(objects);
  return async (hash) => {
    const { parents, committer, tree } = await find(hash);
    return { hash, parents, tree, seconds: committer.at.getTime() / 1000 };
  };
}

/** Marks of a commit: which side reaches it. A stale commit is an ancestor of a common ancestor that was found. */
const FIRST = 1;
const SECOND = 2;
const STALE = 4;
const BOTH = FIRST | SECOND;

/**
 * How many visits of commits a comparison of two histories may make. A hostile history may be made so that each of its
 * commits is visited for each of many common ancestors.
 */
const STEPS_MAX = 1_000_000;

class Steps {
  readonly #pause = createYielder();
  #left: number;

  constructor(max: number) {
    this.#left = max;
  }

  /** Counts a step, and yields to other work now and then. */
  take(): Promise<void> | undefined {
    if (--this.#left >= 0) return this.#pause();
    throw new ApiError('merge_too_large', { message: 'The two histories are too large to compare.' });
  }
}

interface QueuedNode {
  node: HistoryNode;
  /** In which order they were added. */
  turn: number;
}

/** A priority queue, as a binary heap: the youngest commit first, and of the same second the one added first. */
class Queue {
  readonly #heap: QueuedNode[] = [];
  #turns = 0;

  #isBefore(a: QueuedNode, b: QueuedNode): boolean {
    return a.node.seconds > b.node.seconds || (a.node.seconds === b.node.seconds && a.turn < b.turn);
  }

  add(node: HistoryNode) {
    const heap = this.#heap;
    const added = { node, turn: this.#turns++ };
    let at = heap.length;
    for (let up = (at - 1) >> 1; at > 0 && this.#isBefore(added, heap[up]!); up = (at - 1) >> 1) {
      heap[at] = heap[up]!;
      at = up;
    }
    heap[at] = added;
  }

  take(): HistoryNode {
    const heap = this.#heap;
    const first = heap[0]!;
    const last = heap.pop()!;
    if (heap.length) {
      let at = 0;
      for (let down = 1; down < heap.length; down = 2 * at + 1) {
        if (down + 1 < heap.length && this.#isBefore(heap[down + 1]!, heap[down]!)) down++;
        if (!this.#isBefore(heap[down]!, last)) break;
        heap[at] = heap[down]!;
        at = down;
      }
      heap[at] = last;
    }
    return first.node;
  }
}

/** Walks from the youngest commits down until only ancestors of common ancestors are left. */
async function walk(find: FindNode, first: Hash, others: readonly Hash[], steps: Steps) {
  const marks = new Map<Hash, number>();
  const markOf = (hash: Hash) => marks.get(hash) ?? 0;
  const queue = new Queue();
  const common = new Map<Hash, HistoryNode>();
  /** How often each commit is in the queue, and how many places there are of commits that are not stale. */
  const places = new Map<Hash, number>();
  let fresh = 0;
  const reach = async (hash: Hash, mark: number) => {
    const before = markOf(hash);
    if ((before & mark) === mark) return;
    const after = before | mark;
    marks.set(hash, after);
    const waiting = places.get(hash) ?? 0;
    if (after & STALE && !(before & STALE)) fresh -= waiting;
    places.set(hash, waiting + 1);
    if (!(after & STALE)) fresh++;
    queue.add(await find(hash));
  };
  await reach(first, FIRST);
  for (const other of others) await reach(other, SECOND);
  while (fresh > 0) {
    await steps.take();
    const node = queue.take();
    let mark = markOf(node.hash);
    places.set(node.hash, places.get(node.hash)! - 1);
    if (!(mark & STALE)) fresh--;
    if (mark === BOTH) {
      if (!common.has(node.hash)) common.set(node.hash, node);
      mark |= STALE;
    }
    for (const parent of node.parents) await reach(parent, mark);
  }
  const found = [...common.values()].filter(({ hash }) => !(markOf(hash) & STALE));
  // The sort is stable: commits of the same second stay in the order in which they were found.
  return { common: found.sort((a, b) => b.seconds - a.seconds), markOf };
}

/** Returns the best common ancestors, the youngest first: several, for example, after crosswise merges. */
export async function findMergeBases(
  find: FindNode,
  a: Hash,
  b: Hash,
  stepsMax = STEPS_MAX,
): Promise<Hash[]> {
  if (a === b) return [a];
  const steps = new Steps(stepsMax);
  const { common } = await walk(find, a, [b], steps);
  return (await withoutAncestors(find, common, steps)).map(({ hash }) => hash);
}

/** Drops commits that are ancestors of others. Times that do not follow the history can leave such commits. */
async function withoutAncestors(find: FindNode, nodes: HistoryNode[], steps: Steps): Promise<HistoryNode[]> {
  if (nodes.length < 2) return nodes;
  const dropped = new Set<HistoryNode>();
  for (const node of nodes) {
    if (dropped.has(node)) continue;
    const others = nodes.filter((other) => other !== node && !dropped.has(other));
    const { markOf } = await walk(
      find,
      node.hash,
      others.map(({ hash }) => hash),
      steps,
    );
    if (markOf(node.hash) & SECOND) dropped.add(node);
    for (const other of others) if (markOf(other.hash) & FIRST) dropped.add(other);
  }
  return nodes.filter((node) => !dropped.has(node));
}

export const mergeBases = (objects: Objects, a: Hash, b: Hash): Promise<Hash[]> =>
  findMergeBases(historyNodes(objects), a, b);

/** Null if the two have no common ancestor. If it is one of the two, a merge is a fast-forward or has nothing to do. */
export const mergeBase = async (objects: Objects, a: Hash, b: Hash): Promise<Hash | null> =>
  (await mergeBases(objects, a, b))[0] ?? null;
