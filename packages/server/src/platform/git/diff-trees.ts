import type { Hash, Objects, Tree, TreeEntry } from './objects.ts';
import { isDirectory, readTrees } from './trees.ts';

export interface FileChange {
  path: string;
  /** Null if the file was not there. */
  before: Hash | null;
  /** Null if the file is not there any more. */
  after: Hash | null;
}

interface Pair {
  prefix: string;
  before: Hash | null;
  after: Hash | null;
}

/** Every file that differs, in the order of the paths. Directories that are the same are not read. */
export async function diffTrees(objects: Objects, before: Hash, after: Hash): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  for (let level: Pair[] = [{ prefix: '', before, after }]; level.length; ) {
    const different = level.filter((pair) => pair.before !== pair.after);
    const trees = await readTrees(
      objects,
      different.flatMap((pair) => [pair.before ?? [], pair.after ?? []].flat()),
    );
    const treeOf = (hash: Hash | null) => (hash === null ? [] : trees.get(hash)!);
    level = different.flatMap((pair) => {
      const next = compareDirectories(pair.prefix, treeOf(pair.before), treeOf(pair.after));
      changes.push(...next.files);
      return next.directories;
    });
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function compareDirectories(prefix: string, before: Tree, after: Tree) {
  const files: FileChange[] = [];
  const directories: Pair[] = [];
  const old = new Map(before.map((entry) => [entry.name, entry]));
  const add = (name: string, was: TreeEntry | undefined, is: TreeEntry | undefined) => {
    if (was?.hash === is?.hash && was?.mode === is?.mode) return;
    const path = prefix + name;
    const fileOf = (entry: TreeEntry | undefined) => (entry && !isDirectory(entry) ? entry.hash : null);
    const treeOf = (entry: TreeEntry | undefined) => (entry && isDirectory(entry) ? entry.hash : null);
    if (fileOf(was) || fileOf(is)) files.push({ path, before: fileOf(was), after: fileOf(is) });
    if (treeOf(was) || treeOf(is))
      directories.push({ prefix: `${path}/`, before: treeOf(was), after: treeOf(is) });
  };
  for (const entry of after) {
    add(entry.name, old.get(entry.name), entry);
    old.delete(entry.name);
  }
  for (const entry of old.values()) add(entry.name, entry, undefined);
  return { files, directories };
}
