/** The best common ancestors of two commits, in the order in which git finds them. */
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

/** Who reaches a commit. A stale commit is an ancestor of a common ancestor that was found. */
const FIRST = 1;
const SECOND = 2;
const STALE = 4;
const BOTH = FIRST | SECOND;

/** The youngest first. Of the same second, the one that was added first. */
class Queue {
  readonly #nodes: HistoryNode[] = [];

  add(node: HistoryNode) {
    let at = this.#nodes.length;
    while (at > 0 && this.#nodes[at - 1]!.seconds < node.seconds) at--;
    this.#nodes.splice(at, 0, node);
  }

  take(): HistoryNode {
    return this.#nodes.shift()!;
  }

  some(test: (node: HistoryNode) => boolean): boolean {
    return this.#nodes.some(test);
  }
}

/** Walks from the youngest commits down until only ancestors of common ancestors are left. */
async function walk(find: FindNode, first: Hash, others: readonly Hash[]) {
  const marks = new Map<Hash, number>();
  const markOf = (hash: Hash) => marks.get(hash) ?? 0;
  const queue = new Queue();
  const common: HistoryNode[] = [];
  const reach = async (hash: Hash, mark: number) => {
    if ((markOf(hash) & mark) === mark) return;
    marks.set(hash, markOf(hash) | mark);
    queue.add(await find(hash));
  };
  await reach(first, FIRST);
  for (const other of others) await reach(other, SECOND);
  while (queue.some(({ hash }) => !(markOf(hash) & STALE))) {
    const node = queue.take();
    let mark = markOf(node.hash);
    if (mark === BOTH) {
      if (!common.some(({ hash }) => hash === node.hash)) insertByTime(common, node);
      mark |= STALE;
    }
    for (const parent of node.parents) await reach(parent, mark);
  }
  return { common: common.filter(({ hash }) => !(markOf(hash) & STALE)), markOf };
}

function insertByTime(list: HistoryNode[], node: HistoryNode) {
  const at = list.findIndex(({ seconds }) => seconds < node.seconds);
  list.splice(at < 0 ? list.length : at, 0, node);
}

/** The youngest first. Several if neither is an ancestor of another, as after two branches were merged crosswise. */
export async function findMergeBases(find: FindNode, a: Hash, b: Hash): Promise<Hash[]> {
  if (a === b) return [a];
  const { common } = await walk(find, a, [b]);
  return (await withoutAncestors(find, common)).map(({ hash }) => hash);
}

/** Drops commits that are ancestors of others. Times that do not follow the history can leave such commits. */
async function withoutAncestors(find: FindNode, nodes: HistoryNode[]): Promise<HistoryNode[]> {
  if (nodes.length < 2) return nodes;
  const dropped = new Set<HistoryNode>();
  for (const node of nodes) {
    if (dropped.has(node)) continue;
    const others = nodes.filter((other) => other !== node && !dropped.has(other));
    const { markOf } = await walk(
      find,
      node.hash,
      others.map(({ hash }) => hash),
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
