/** All objects that commits and trees need. */
import { parseCommit } from './commits.ts';
import type { Hash, Objects } from './objects.ts';
import { EMPTY_TREE, parseTree } from './trees.ts';

/** What must be kept. Everything that it refers to is kept too. */
export interface Roots {
  commits: readonly Hash[];
  /** Trees that no commit holds, such as those of uncommitted changes. */
  trees?: readonly Hash[];
  /** Blobs that no tree holds, such as the files of an upload that is not finished. */
  blobs?: readonly Hash[];
}

export interface ReachableObjects {
  commits: Set<Hash>;
  trees: Set<Hash>;
  blobs: Set<Hash>;
}

const HISTORY_PART = 1000;
const TREES_AT_ONCE = 500;

/** Parsed trees are not kept in the cache: one walk through a long history would push out everything else. */
export async function findReachable(objects: Objects, roots: Roots): Promise<ReachableObjects> {
  const history = await readHistory(objects, roots.commits);
  const reachable = {
    commits: new Set(history.keys()),
    trees: new Set([...(roots.trees ?? []), ...[...history.values()].map(({ tree }) => tree)]),
    blobs: new Set(roots.blobs),
  };
  await addAllBelow(objects, [...reachable.trees], reachable);
  return reachable;
}

/**
 * What these commits need and `known` ones do not, as a push sends it. Of the known history, only the trees at its edge
 * are read, so an object that is only in an older known tree may be among the answer.
 */
export async function findUnknown(
  objects: Objects,
  commits: readonly Hash[],
  known: readonly Hash[],
): Promise<ReachableObjects> {
  const before = await readHistory(objects, known);
  const added = await readHistory(objects, commits, before);
  const edge = [...known, ...[...added.values()].flatMap(({ parents }) => parents)];
  const edgeTrees = edge.flatMap((hash) => before.get(hash)?.tree ?? []);
  const old = { trees: new Set(edgeTrees), blobs: new Set<Hash>() };
  await addAllBelow(objects, [...old.trees], old);
  const all = { trees: new Set(old.trees), blobs: new Set(old.blobs) };
  const newTrees = [...new Set([...added.values()].map(({ tree }) => tree))].filter(
    (tree) => !old.trees.has(tree),
  );
  for (const tree of newTrees) all.trees.add(tree);
  await addAllBelow(objects, newTrees, all);
  return {
    commits: new Set(added.keys()),
    trees: without(all.trees, old.trees),
    blobs: without(all.blobs, old.blobs),
  };
}

const without = (all: Set<Hash>, left: Set<Hash>) => new Set([...all].filter((hash) => !left.has(hash)));

type History = Map<Hash, { tree: Hash; parents: Hash[] }>;

/** These commits and their ancestors, but none that is in `known`. */
async function readHistory(objects: Objects, commits: readonly Hash[], known?: History): Promise<History> {
  const history: History = new Map();
  const isNew = (hash: Hash) => !history.has(hash) && !known?.has(hash);
  let waiting = [...new Set(commits)].filter(isNew);
  while (waiting.length) {
    const part = await objects.readHistory(waiting.slice(0, HISTORY_PART), HISTORY_PART);
    for (const [hash, { content }] of part) {
      if (!isNew(hash)) continue;
      const { parents, tree } = parseCommit(hash, content);
      history.set(hash, { parents, tree });
      waiting.push(...parents);
    }
    waiting = [...new Set(waiting)].filter(isNew);
  }
  return history;
}

async function addAllBelow(objects: Objects, roots: Hash[], found: Trees) {
  for (let level = roots; level.length; ) level = await addBelow(objects, level, found);
}

type Trees = Pick<ReachableObjects, 'trees' | 'blobs'>;

/** Adds the entries of these trees, and returns the trees that are new. */
async function addBelow(objects: Objects, level: Hash[], { trees, blobs }: Trees): Promise<Hash[]> {
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
