/** The folder of the repository that holds the project, as the settings of the deployment name it. */
import type { Hash, Objects } from '../../platform/git/objects.ts';
import { isDirectory, readTrees } from '../../platform/git/trees.ts';
import { composed, pathProblem } from './paths.ts';

const foldersOf = (deployProjectRoot: string) =>
  composed(deployProjectRoot)
    .split('/')
    .filter((folder) => folder !== '' && folder !== '.');

/** The root as a prefix of paths: empty or `folder/`. */
export const rootOf = (deployProjectRoot: string): string =>
  foldersOf(deployProjectRoot)
    .map((folder) => `${folder}/`)
    .join('');

/** The one form in which it is stored: `/` or `/folder`. */
export const normalRoot = (deployProjectRoot: string): string => `/${foldersOf(deployProjectRoot).join('/')}`;

/** Returns what is wrong with it, or nothing. A file must be possible below it. */
export const rootProblem = (deployProjectRoot: string): string | undefined =>
  pathProblem(`${rootOf(deployProjectRoot)}x`);

/** The tree of the project, or null if the folder does not exist. */
export async function projectTree(objects: Objects, tree: Hash, root: string): Promise<Hash | null> {
  let at = tree;
  for (const name of foldersOf(root)) {
    const entries = (await readTrees(objects, [at])).get(at)!;
    const folder = entries.find((entry) => entry.name === name && isDirectory(entry));
    if (!folder) return null;
    at = folder.hash;
  }
  return at;
}
