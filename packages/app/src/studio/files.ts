/** The files of a branch as the API lists them, and as the tree shows them. */
import { api } from '../data/api.ts';

export interface StudioFile {
  path: string;
  /** As the server has it. Undefined for what is not text. */
  text: string | undefined;
  /** The bytes of what is not text. */
  base64?: string;
}

interface Node {
  path: string;
  type: 'file' | 'directory';
  content?: string;
  encoding?: 'base64';
  children?: Node[];
}

const PAGE = 500;

/** All files of a branch with their texts, in pages: one reply holds at most 16 MB. */
export async function loadFiles(
  deploymentId: number,
  branchName: string,
  { commit, signal }: { commit?: string; signal?: AbortSignal } = {},
): Promise<StudioFile[]> {
  const files: StudioFile[] = [];
  let after: string | undefined;
  do {
    const page = await api.listFiles(
      {
        deploymentId,
        branchName,
        withContent: true,
        first: PAGE,
        ...(commit && { commit }),
        ...(after && { after }),
      },
      signal ? { signal } : {},
    );
    collect(page.items, files);
    after = page.pageInfo.hasNextPage ? (page.pageInfo.endCursor ?? undefined) : undefined;
  } while (after !== undefined);
  return files;
}

function collect(nodes: readonly Node[], files: StudioFile[]) {
  for (const { type, path, content, encoding, children } of nodes) {
    if (type === 'directory') collect(children ?? [], files);
    else if (encoding === 'base64') files.push({ path, text: undefined, base64: content ?? '' });
    else files.push({ path, text: content ?? '' });
  }
}

export interface TreeNode {
  name: string;
  path: string;
  children: TreeNode[] | undefined;
}

/** Folders first, each by name. */
export function treeOf(paths: readonly string[]): TreeNode[] {
  const root: TreeNode[] = [];
  const folders = new Map<string, TreeNode[]>([['', root]]);
  const folderAt = (path: string): TreeNode[] => {
    const known = folders.get(path);
    if (known) return known;
    const cut = path.lastIndexOf('/');
    const children: TreeNode[] = [];
    folders.set(path, children);
    folderAt(path.slice(0, Math.max(cut, 0))).push({ name: path.slice(cut + 1), path, children });
    return children;
  };
  for (const path of paths) {
    const cut = path.lastIndexOf('/');
    folderAt(path.slice(0, Math.max(cut, 0))).push({ name: path.slice(cut + 1), path, children: undefined });
  }
  const sort = (nodes: TreeNode[]) => {
    nodes.sort(
      (a, b) =>
        Number(b.children !== undefined) - Number(a.children !== undefined) || (a.name < b.name ? -1 : 1),
    );
    for (const { children } of nodes) if (children) sort(children);
  };
  sort(root);
  return root;
}
