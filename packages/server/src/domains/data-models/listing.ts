/** Files of a branch as the tree that callers see. */
import type { operations, ReplyOf } from '@oriel/contract';
import type { Content } from './contents.ts';
import { foldersOf } from './paths.ts';

type Node = ReplyOf<typeof operations.listFiles>['items'][number];

export interface ListedFile extends Partial<Content> {
  path: string;
}

/** Puts files, in the order of their paths, into folders. Each folder is where its first file is. */
export function toSourceTree(files: readonly ListedFile[]): Node[] {
  const root: Node[] = [];
  const folders = new Map<string, Node[]>([['', root]]);
  const childrenOf = (folder: string): Node[] => {
    const known = folders.get(folder);
    if (known) return known;
    const children: Node[] = [];
    folders.set(folder, children);
    childrenOf(parentOf(folder)).push({ path: folder, type: 'directory', children });
    return children;
  };
  for (const { path, ...content } of files)
    childrenOf(parentOf(path)).push({ path, type: 'file', ...content });
  return root;
}

/** What a node takes beside its path. */
const NODE_BYTES = 40;

/** About how many bytes a file adds to a list: its own node, and those of the folders that the file before is not in. */
export function nodeBytes(path: string, before = ''): number {
  let bytes = NODE_BYTES + Buffer.byteLength(path);
  for (const folder of foldersOf(path))
    if (!before.startsWith(`${folder}/`)) bytes += NODE_BYTES + Buffer.byteLength(folder);
  return bytes;
}

const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));
