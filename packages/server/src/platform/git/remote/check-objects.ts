/** Checks what a remote sent before anything of it is stored. Pure, and for a thread. */
import { parseCommit } from '../commits.ts';
import { isTreePath } from '../names.ts';
import type { GitObject, Hash, Tree } from '../objects.ts';
import { compareEntries, EMPTY_TREE, isDirectory, parseTree } from '../trees.ts';
import { printable } from './pkt-line.ts';
import { RemoteError } from './remote-error.ts';

/** Objects that the new ones refer to and that are not among them. They must be stored already. */
export interface References {
  commits: Hash[];
  trees: Hash[];
  blobs: Hash[];
}

/** `100664` is how old versions of git wrote files that a group may change. */
export const FILE_MODES: readonly string[] = ['100644', '100755', '100664'];

export interface ContentLimits {
  segmentBytes: number;
  /** How many files and folders one commit may have. The same small folder in many places can be billions. */
  treeEntries: number;
  treeDepth: number;
}

const HASH = /^[0-9a-f]{40}$/;
const LATEST = Date.UTC(9999, 11, 31);
const COMMIT_BYTES = 1024 * 1024;
const PARENTS_MAX = 100;

/** Throws a `RemoteError` if one of the objects is not fit to be stored. */
export function checkObjects(
  objects: ReadonlyMap<Hash, GitObject>,
  limits: ContentLimits,
  known: ReadonlyMap<Hash, TreeSize> = new Map(),
): References {
  const outside = { commit: new Set<Hash>(), tree: new Set<Hash>(), blob: new Set<Hash>() };
  const refer = (hash: Hash, type: GitObject['type']) => {
    const found = objects.get(hash);
    if (found && found.type !== type)
      throw unacceptable(`the object ${hash} is a ${found.type} and not a ${type}`);
    if (!found && hash !== EMPTY_TREE) outside[type].add(hash);
  };
  for (const [hash, { type, content }] of objects) {
    if (type === 'commit') {
      const { tree, parents } = readCommit(hash, content);
      refer(tree, 'tree');
      for (const parent of parents) refer(parent, 'commit');
    } else if (type === 'tree') {
      for (const entry of readTree(hash, content, limits))
        refer(entry.hash, entry.mode === '40000' ? 'tree' : 'blob');
    }
  }
  requireBounded(objects, limits, known);
  return { commits: [...outside.commit], trees: [...outside.tree], blobs: [...outside.blob] };
}

const unacceptable = (why: string) =>
  new RemoteError('unacceptable', `The repository cannot be stored here: ${why}.`);

function readCommit(hash: Hash, content: Buffer) {
  try {
    const commit = parseCommit(hash, content);
    if (![commit.tree, ...commit.parents].every((named) => HASH.test(named))) throw new Error('no hash');
    const times = [commit.author.at, commit.committer.at].map((at) => at.getTime());
    // Beyond these times, dates have no text that people and databases can read.
    if (!times.every((time) => time >= 0 && time <= LATEST)) throw new Error('no time');
    if (content.length > COMMIT_BYTES || commit.parents.length > PARENTS_MAX) throw new Error('too large');
    return commit;
  } catch {
    throw unacceptable(`the commit ${hash} is damaged, too large, or has a time that cannot be`);
  }
}

function readTree(hash: Hash, content: Buffer, { segmentBytes }: ContentLimits): Tree {
  let tree: Tree;
  try {
    tree = parseTree(content);
  } catch {
    throw unacceptable(`the folder ${hash} is damaged`);
  }
  const names = new Set<string>();
  let previous: Tree[number] | undefined;
  for (const entry of tree) {
    const { mode, name } = entry;
    const shown = JSON.stringify(printable(name).slice(0, 100));
    if (mode === '120000') throw unacceptable(`${shown} is a symbolic link`);
    if (mode === '160000') throw unacceptable(`${shown} is a submodule`);
    if (mode !== '40000' && !FILE_MODES.includes(mode))
      throw unacceptable(`${shown} has the unknown mode ${printable(mode).slice(0, 20)}`);
    // A name that is not UTF-8 was read with replacement characters, so it would not be written as it was.
    if (name.includes('\ufffd') || name.includes('/') || !isTreePath(name))
      throw unacceptable(`${shown} is not a name that a file can have`);
    if (Buffer.byteLength(name) > segmentBytes) throw unacceptable(`${shown} is too long for a name`);
    const folded = name.toLowerCase().normalize('NFC');
    if (names.has(folded)) throw unacceptable(`${shown} is there twice, in different letters or forms`);
    names.add(folded);
    if (previous && compareEntries(previous, entry) >= 0)
      throw unacceptable(`the folder ${hash} is not in order`);
    previous = entry;
  }
  return tree;
}

/** What a folder holds with all folders below it. */
export interface TreeSize {
  entries: number;
  depth: number;
}

/** Counts each folder once, from the deepest up. `known` has the sizes of folders that the reader has already. */
function requireBounded(
  objects: ReadonlyMap<Hash, GitObject>,
  limits: ContentLimits,
  known: ReadonlyMap<Hash, TreeSize>,
) {
  const treeOf = (hash: Hash) => {
    const object = objects.get(hash);
    return object?.type === 'tree' ? parseTree(object.content) : undefined;
  };
  const roots = [...objects].flatMap(([hash, { type }]) => (type === 'tree' ? [hash] : []));
  measureTrees(roots, treeOf, limits, new Map(known));
}

/** Adds the size of each of these folders to `sizes`. Throws if one is larger than the limits. */
export function measureTrees(
  roots: readonly Hash[],
  treeOf: (hash: Hash) => Tree | undefined,
  { treeEntries, treeDepth }: ContentLimits,
  sizes: Map<Hash, TreeSize>,
): Map<Hash, TreeSize> {
  const tooDeep = () =>
    new RemoteError(
      'too_large',
      `The repository is too large: it has more than ${treeDepth} folders in one another.`,
    );
  // An explicit stack in place of recursion, because the sender decides how deep folders are nested.
  const stack: { hash: Hash; below: Hash[]; at: number; entries: number; depth: number }[] = [];
  const enter = (hash: Hash) => {
    const tree = treeOf(hash) ?? [];
    const below = tree.filter(isDirectory).map((entry) => entry.hash);
    stack.push({ hash, below, at: 0, entries: tree.length, depth: 1 });
    if (stack.length > treeDepth) throw tooDeep();
  };
  for (const root of roots) {
    if (sizes.has(root)) continue;
    enter(root);
    while (stack.length) {
      const top = stack.at(-1)!;
      const next = top.below[top.at];
      if (next === undefined) {
        stack.pop();
        sizes.set(top.hash, { entries: top.entries, depth: top.depth });
        continue;
      }
      const size = sizes.get(next);
      if (!size) {
        enter(next);
        continue;
      }
      top.at++;
      top.entries += size.entries;
      top.depth = Math.max(top.depth, size.depth + 1);
      if (top.depth > treeDepth) throw tooDeep();
      if (top.entries > treeEntries) {
        throw new RemoteError(
          'too_large',
          `The repository is too large: a commit has more than ${treeEntries} files and folders.`,
        );
      }
    }
  }
  return sizes;
}
