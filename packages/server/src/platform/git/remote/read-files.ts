/** The files of one commit, read from a pack that holds nothing else. Pure, and for a thread. */
import { parseCommit } from '../commits.ts';
import { isTreePath } from '../names.ts';
import type { GitObject, Hash } from '../objects.ts';
import { EMPTY_TREE, isDirectory, parseTree } from '../trees.ts';
import { type ContentLimits, FILE_MODES } from './check-objects.ts';
import { printable } from './pkt-line.ts';
import type { PackLimits } from './read-pack.ts';
import { RemoteError } from './remote-error.ts';

export interface FileSelection {
  commit: Hash;
  /** The folder in which they are: empty, or with a slash at its end. */
  folder: string;
  /** The only paths to read, as far as they exist. By default all are read. */
  only?: readonly string[];
}

/** Returns files by their paths below the folder, without links and submodules. Checks nothing that it leaves out. */
export function readFiles(
  objects: ReadonlyMap<Hash, GitObject>,
  { commit, folder, only }: FileSelection,
  { treeEntries, treeDepth, totalBytes }: ContentLimits & PackLimits,
): [string, Buffer][] {
  const contentOf = (hash: Hash, type: GitObject['type']): Buffer => {
    if (hash === EMPTY_TREE) return Buffer.alloc(0);
    const object = objects.get(hash);
    if (object?.type !== type) throw damaged();
    return object.content;
  };
  const entriesOf = (hash: Hash) => wellFormed(() => parseTree(contentOf(hash, 'tree')));
  const names = folder.split('/').slice(0, -1);
  let root = wellFormed(() => parseCommit(commit, contentOf(commit, 'commit'))).tree;
  for (const name of names) {
    const entry = entriesOf(root).find((each) => each.name === name && isDirectory(each));
    if (!entry) throw new RemoteError('not_found', `The repository has no folder ${printable(folder)}.`);
    root = entry.hash;
  }
  const isWanted = (path: string) =>
    only === undefined || only.some((each) => each === path || each.startsWith(`${path}/`));
  const files: [string, Buffer][] = [];
  let seen = 0;
  let bytes = 0;
  const walk = (tree: Hash, prefix: string, depth: number) => {
    if (depth > treeDepth) throw tooLarge(`it has more than ${treeDepth} folders in one another`);
    for (const entry of entriesOf(tree)) {
      if (++seen > treeEntries) throw tooLarge(`it has more than ${treeEntries} files and folders`);
      const path = `${prefix}${entry.name}`;
      if (!isWanted(path)) continue;
      const isFile = FILE_MODES.includes(entry.mode);
      if (!isFile && !isDirectory(entry)) continue;
      if (entry.name.includes('/') || !isTreePath(entry.name))
        throw new RemoteError('unacceptable', 'The repository has a name that a file cannot have.');
      if (isFile) {
        const content = contentOf(entry.hash, 'blob');
        // Counts a file in each of its places, because each becomes a file of the result.
        bytes += content.length;
        if (bytes > totalBytes) throw tooLarge(`its files have more than ${totalBytes} bytes`);
        files.push([path, content]);
      } else walk(entry.hash, `${path}/`, depth + 1);
    }
  };
  walk(root, '', 1);
  return files;
}

const damaged = () => new RemoteError('not_git', 'The pack of the remote is damaged.');
const tooLarge = (what: string) => new RemoteError('too_large', `The repository is too large: ${what}.`);

function wellFormed<Value>(read: () => Value): Value {
  try {
    return read();
  } catch {
    throw damaged();
  }
}
