/** All objects that commits and trees need. */
import { parseCommit } from './commits.ts';
import type { Hash, Objects } from './objects.ts';
import { EMPTY_TREE, parseTree } from './trees.ts';

/** What must be kept. Everything that it refers to is kept too. */
export interface Roots {
  commits: readonly Hash[];
  /** Such as the trees of uncommitted changes. */
  trees?: readonly Hash[];
  /** Such as the files of an upload that is not finished. */
  blobs?: readonly Hash[];
}

export interface Reachable {
  commits: Set<Hash>;
  trees: Set<Hash>;
  blobs: Set<Hash>;
}

const HISTORY_PART = 1000;
const TREES_AT_ONCE = 500;

/** Parsed trees are not kept in the cache: one walk through a long history would push out everything else. */
export async function findReachable(objects: Objects, roots: Roots): Promise<Reachable> {
  const reachable = { commits: new Set<Hash>(), trees: new Set(roots.trees), blobs: new Set(roots.blobs) };
  let waiting = [...new Set(roots.commits)];
  while (waiting.length) {
    const part = await objects.readHistory(waiting.slice(0, HISTORY_PART), HISTORY_PART);
    for (const [hash, { content }] of part) {
      const { parents, tree } = parseCommit(hash, content);
      reachable.commits.add(hash);
      reachable.trees.add(tree);
      waiting.push(...parents);
    }
    waiting = [...new Set(waiting)].filter((hash) => !reachable.commits.has(hash));
  }
  for (let level = [...reachable.trees]; level.length; ) level = await addBelow(objects, level, reachable);
  return reachable;
}

/** Adds the entries of these trees, and returns the trees that are new. */
async function addBelow(objects: Objects, level: Hash[], { trees, blobs }: Reachable): Promise<Hash[]> {
  const next: Hash[] = [];
  for (let i = 0; i < level.length; i += TREES_AT_ONCE) {
    const stored = level.slice(i, i + TREES_AT_ONCE).filter((hash) => hash !== EMPTY_TREE);
    for (const { content } of (await objects.read(stored)).values()) {
      for (const { mode, hash } of parseTree(content)) {
        if (mode === '160000') continue;
        if (mode !== '40000') blobs.add(hash);
        else if (!trees.has(hash)) {
          trees.add(hash);
          next.push(hash);
        }
      }
    }
  }
  return next;
}
