/** Checks what a remote sent before anything of it is stored. Pure, and for a thread. */
import { parseCommit } from '../commits.ts';
import { isTreePath } from '../names.ts';
import type { GitObject, Hash, Tree } from '../objects.ts';
import { compareEntries, EMPTY_TREE, isDirectory, parseTree } from '../trees.ts';
import { RemoteError } from './remote-error.ts';

/** What the new objects refer to and what is not among them. Whoever stores them must have these already. */
export interface References {
  commits: Hash[];
  trees: Hash[];
  blobs: Hash[];
}

/** `100664` is how old versions of git wrote files that a group may change. */
const FILE_MODES: readonly string[] = ['100644', '100755', '100664'];

export interface ContentLimits {
  segmentBytes: number;
  /** How many files and folders one commit may have. The same small folder in many places can be billions. */
  treeEntries: number;
  treeDepth: number;
}

const HASH = /^[0-9a-f]{40}$/;

/** Throws a `RemoteError` if one of the objects is not fit to be stored. */
export function checkObjects(objects: ReadonlyMap<Hash, GitObject>, limits: ContentLimits): References {
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
  requireBounded(objects, limits);
  return { commits: [...outside.commit], trees: [...outside.tree], blobs: [...outside.blob] };
}

const unacceptable = (why: string) =>
  new RemoteError('unacceptable', `The repository can not be stored here: ${why}.`);

function readCommit(hash: Hash, content: Buffer) {
  try {
    const commit = parseCommit(hash, content);
    if (![commit.tree, ...commit.parents].every((named) => HASH.test(named))) throw new Error('no hash');
    return commit;
  } catch {
    throw unacceptable(`the commit ${hash} is damaged`);
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
    const shown = JSON.stringify(name);
    if (mode === '120000') throw unacceptable(`${shown} is a symbolic link`);
    if (mode === '160000') throw unacceptable(`${shown} is a submodule`);
    if (mode !== '40000' && !FILE_MODES.includes(mode))
      throw unacceptable(`${shown} has the unknown mode ${mode}`);
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

/** Counts what each folder holds with all folders below it, from the deepest up. What is known already counts as one. */
function requireBounded(objects: ReadonlyMap<Hash, GitObject>, { treeEntries, treeDepth }: ContentLimits) {
  const sizes = new Map<Hash, { entries: number; depth: number }>();
  const treeOf = (hash: Hash) => {
    const object = objects.get(hash);
    return object?.type === 'tree' ? parseTree(object.content) : undefined;
  };
  // A stack of its own, because folders in folders are as deep as the sender likes.
  for (const [root, { type }] of objects) {
    if (type !== 'tree' || sizes.has(root)) continue;
    const stack: { hash: Hash; below: Hash[]; files: number }[] = [];
    const enter = (hash: Hash) => {
      const tree = treeOf(hash) ?? [];
      const below = tree.filter(isDirectory).map((entry) => entry.hash);
      stack.push({ hash, below, files: tree.length - below.length });
      if (stack.length > treeDepth)
        throw new RemoteError(
          'too_large',
          `The repository is too large: it has more than ${treeDepth} folders in one another.`,
        );
    };
    enter(root);
    while (stack.length) {
      const top = stack.at(-1)!;
      const next = top.below.find((hash) => objects.has(hash) && !sizes.has(hash));
      if (next) {
        enter(next);
        continue;
      }
      stack.pop();
      const known = top.below.map((hash) => sizes.get(hash) ?? { entries: 1, depth: 1 });
      const entries = known.reduce((sum, size) => sum + 1 + size.entries, top.files);
      const depth = 1 + Math.max(0, ...known.map((size) => size.depth));
      if (entries > treeEntries || depth > treeDepth)
        throw new RemoteError(
          'too_large',
          `The repository is too large: a commit has more than ${treeEntries} files and folders.`,
        );
      sizes.set(top.hash, { entries, depth });
    }
  }
}
