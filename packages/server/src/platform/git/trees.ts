/** Trees: git's directories. Reads them level by level, so that a whole model takes a few round trips. */
import { ApiError } from '../errors.ts';
import { isTreePath } from './names.ts';
import {
  type GitObject,
  type Hash,
  hashOf,
  MissingObjectError,
  type Mode,
  type Objects,
  type Tree,
  type TreeEntry,
} from './objects.ts';

export const EMPTY_TREE: Hash = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

export const isDirectory = ({ mode }: { mode: Mode }) => mode === '40000';

const HASH_BYTES = 20;

export function parseTree(content: Buffer): Tree {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(0x20, at);
    const end = content.indexOf(0, space);
    if (space < 0 || end < 0 || end + 1 + HASH_BYTES > content.length) throw new Error('a broken git tree');
    const mode = content.toString('latin1', at, space) as Mode;
    const name = content.toString('utf8', space + 1, end);
    at = end + 1 + HASH_BYTES;
    entries.push({ mode, name, hash: content.toString('hex', end + 1, at) });
  }
  return entries;
}

/** The entries must be in git's order; see `compareEntries`. */
export function formatTree(entries: Tree): GitObject {
  const parts = entries.flatMap(({ mode, name, hash }) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(hash, 'hex'),
  ]);
  return { type: 'tree', content: Buffer.concat(parts) };
}

/** Git's order: by bytes, where a directory counts as if its name ended with a slash. */
export const compareEntries = (a: TreeEntry, b: TreeEntry): number =>
  compareBytes(isDirectory(a) ? `${a.name}/` : a.name, isDirectory(b) ? `${b.name}/` : b.name);

const BEYOND_SURROGATES = /[\ud800-\uffff]/;

/** The order of the UTF-8 bytes. JavaScript's own order differs where surrogates are involved. */
function compareBytes(a: string, b: string): number {
  if (BEYOND_SURROGATES.test(a) && BEYOND_SURROGATES.test(b))
    return Buffer.compare(Buffer.from(a), Buffer.from(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

export async function readTrees(objects: Objects, hashes: Iterable<Hash>): Promise<Map<Hash, Tree>> {
  const found = new Map<Hash, Tree>();
  const unknown: Hash[] = [];
  for (const hash of new Set(hashes)) {
    const tree = hash === EMPTY_TREE ? [] : objects.trees.get(hash);
    if (tree) found.set(hash, tree);
    else unknown.push(hash);
  }
  if (!unknown.length) return found;
  for (const [hash, { type, content }] of await objects.read(unknown)) {
    if (type !== 'tree') throw new MissingObjectError(hash);
    const tree = parseTree(content);
    objects.trees.set(hash, tree);
    found.set(hash, tree);
  }
  return found;
}

/** These trees and all trees below them. */
export async function readTreesBelow(objects: Objects, roots: Iterable<Hash>): Promise<Map<Hash, Tree>> {
  const found = new Map<Hash, Tree>();
  for (let level = new Set(roots); level.size; ) {
    const next = new Set<Hash>();
    for (const [hash, tree] of await readTrees(objects, level)) {
      found.set(hash, tree);
      for (const entry of tree) if (isDirectory(entry) && !found.has(entry.hash)) next.add(entry.hash);
    }
    level = next;
  }
  return found;
}

/** More than any data model has. The same folder in many places could be billions of files. */
const LISTED_MAX = 100_000;

/** Every file with its blob, in git's order. Throws if there are too many. */
export async function listTree(objects: Objects, root: Hash): Promise<Map<string, Hash>> {
  const trees = await readTreesBelow(objects, [root]);
  const files = new Map<string, Hash>();
  let listed = 0;
  const visit = (tree: Hash, prefix: string) => {
    for (const entry of trees.get(tree)!) {
      if (++listed > LISTED_MAX) throw new ApiError('data_model_too_large');
      if (isDirectory(entry)) visit(entry.hash, `${prefix}${entry.name}/`);
      else files.set(prefix + entry.name, entry.hash);
    }
  };
  visit(root, '');
  return files;
}

/** Thrown if a file would have to be a directory at the same time. */
export class PathTakenError extends Error {
  readonly path: string;

  constructor(path: string) {
    super(`${path} cannot be a file and a directory`);
    this.path = path;
  }
}

/** The edits of one directory: of its own files, and of the directories in it. */
interface Edits {
  files: Map<string, Hash | null>;
  directories: Map<string, Edits>;
}

/**
 * Returns the tree in which each path of `edits` has this blob, or is gone. Only the directories concerned are read and
 * written, and directories that become empty disappear. Removing a path that is no file changes nothing.
 */
export async function editTree(
  objects: Objects,
  root: Hash,
  edits: ReadonlyMap<string, Hash | null>,
): Promise<Hash> {
  const grouped = groupEdits(edits);
  const trees = await readEdited(objects, root, grouped);
  const written = new Map<Hash, Tree>();
  const edited = editDirectory({ trees, written }, { hash: root, path: '' }, grouped) ?? EMPTY_TREE;
  if (edited === EMPTY_TREE) written.set(EMPTY_TREE, []);
  await writeTrees(objects, written.values());
  return edited;
}

function groupEdits(edits: ReadonlyMap<string, Hash | null>): Edits {
  const root: Edits = { files: new Map(), directories: new Map() };
  for (const [path, hash] of edits) {
    if (!isTreePath(path)) throw new Error(`${JSON.stringify(path)} is not a path that git accepts`);
    const names = path.split('/');
    const file = names.pop()!;
    let at = root;
    for (const name of names) {
      const below = at.directories.get(name) ?? { files: new Map(), directories: new Map() };
      at.directories.set(name, below);
      at = below;
    }
    at.files.set(file, hash);
  }
  return root;
}

/** The directories that the edits are in, level by level. */
async function readEdited(objects: Objects, root: Hash, edits: Edits): Promise<Map<Hash, Tree>> {
  const found = new Map<Hash, Tree>([[EMPTY_TREE, []]]);
  for (let level: [Hash, Edits][] = [[root, edits]]; level.length; ) {
    const trees = await readTrees(
      objects,
      level.map(([hash]) => hash),
    );
    const next: typeof level = [];
    for (const [hash, { directories }] of level) {
      const tree = trees.get(hash)!;
      found.set(hash, tree);
      if (!directories.size) continue;
      for (const entry of tree) {
        const below = isDirectory(entry) && directories.get(entry.name);
        if (below) next.push([entry.hash, below]);
      }
    }
    level = next;
  }
  return found;
}

/** Returns null if nothing is left in the directory. */
function editDirectory(
  known: { trees: ReadonlyMap<Hash, Tree>; written: Map<Hash, Tree> },
  { hash, path }: { hash: Hash; path: string },
  { files, directories }: Edits,
): Hash | null {
  const entries = new Map(known.trees.get(hash)!.map((entry) => [entry.name, entry]));
  // Files are removed before directories are made in their place, and files are added after directories are gone.
  for (const [name, blob] of files) {
    const entry = entries.get(name);
    if (blob === null && entry && !isDirectory(entry)) entries.delete(name);
  }
  for (const [name, below] of directories) {
    const entry = entries.get(name);
    const isFile = entry !== undefined && !isDirectory(entry);
    const place = { hash: isFile || !entry ? EMPTY_TREE : entry.hash, path: `${path}${name}/` };
    const after = editDirectory(known, place, below);
    if (isFile && after !== null) throw new PathTakenError(path + name);
    if (after !== null) entries.set(name, { mode: '40000', name, hash: after });
    else if (!isFile) entries.delete(name);
  }
  for (const [name, blob] of files) {
    if (blob === null) continue;
    const entry = entries.get(name);
    if (entry && isDirectory(entry)) throw new PathTakenError(path + name);
    entries.set(name, { mode: entry?.mode ?? '100644', name, hash: blob });
  }
  if (!entries.size) return null;
  const tree = [...entries.values()].sort(compareEntries);
  const edited = hashOf(formatTree(tree));
  known.written.set(edited, tree);
  return edited;
}

/** Writes trees whose entries are in git's order. */
export async function writeTrees(objects: Objects, trees: Iterable<Tree>): Promise<Hash[]> {
  const list = [...trees];
  const hashes = await objects.write(list.map(formatTree));
  for (const [i, hash] of hashes.entries()) objects.trees.set(hash, list[i]!);
  return hashes;
}
