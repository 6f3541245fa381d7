/** Changes of files, as pure plans: which paths get which content, or none. Nothing is changed if one is refused. */
import { ApiError, type Issue } from '../../platform/errors.ts';
import type { Hash } from '../../platform/git/objects.ts';
import { clashes, composed, pathProblem } from './paths.ts';

/** All files of a tree, by path. */
export type Files = ReadonlyMap<string, Hash>;
/** The new content by path; null removes the file. */
export type Edits = ReadonlyMap<string, Hash | null>;

const ISSUES_MAX = 20;

/** Throws an error with these issues, if there are any. */
export function refuseAny(
  code: 'invalid_file' | 'file_path_taken' | 'invalid_reference',
  issues: readonly Issue[],
): void {
  const [first] = issues;
  if (!first) return;
  const more = issues.length > 1 ? ` (and ${issues.length - 1} more)` : '';
  throw new ApiError(code, {
    message: `${first.path}: ${first.message}${more}`,
    issues: issues.slice(0, ISSUES_MAX),
  });
}

/** Returns the paths as they are stored. Throws if one is not allowed, or if two of them are the same. */
export function requirePaths(
  paths: readonly string[],
  nameOf: (i: number) => string,
  problemOf: (path: string) => string | undefined = pathProblem,
): string[] {
  const seen = new Set<string>();
  const issues: Issue[] = [];
  const stored = paths.map((given, i) => {
    const path = composed(given);
    const message = problemOf(path) ?? (seen.has(path) ? 'is given more than once' : undefined);
    if (message) issues.push({ path: nameOf(i), message });
    seen.add(path);
    return path;
  });
  refuseAny('invalid_file', issues);
  return stored;
}

const inList = (field: string) => (i: number) => `files[${i}].${field}`;

export const requireListedPaths = (paths: readonly string[], field = 'path') =>
  requirePaths(paths, inList(field));

/** Paths of files that are there. A path that was allowed once can be removed and renamed. */
export const requireKnownPaths = (paths: readonly string[]) =>
  requirePaths(paths, inList('path'), () => undefined);

/** Throws if a path is not one of the files. */
function requireFiles(files: Files, paths: readonly string[]) {
  refuseAny(
    'invalid_reference',
    paths.flatMap((path, i) =>
      files.has(path) ? [] : [{ path: inList('path')(i), message: `there is no file ${path}` }],
    ),
  );
}

export function planRemoval(files: Files, paths: readonly string[]): Edits {
  requireFiles(files, paths);
  return new Map(paths.map((path) => [path, null]));
}

/** The new paths must be free before the first file is renamed. So files cannot be swapped in one request. */
export function planRenames(files: Files, from: readonly string[], to: readonly string[]): Edits {
  requireFiles(files, from);
  refuseAny(
    'file_path_taken',
    to.flatMap((path, i) =>
      files.has(path) && path !== from[i]
        ? [{ path: inList('newPath')(i), message: `there is already a file ${path}` }]
        : [],
    ),
  );
  const edits = new Map<string, Hash | null>(from.map((path) => [path, null]));
  for (const [i, path] of to.entries()) edits.set(path, files.get(from[i]!)!);
  return edits;
}

/** Returns the files after the edits. */
export function applyEdits(files: Files, edits: Edits): Map<string, Hash> {
  const after = new Map(files);
  for (const [path, hash] of edits) {
    if (hash === null) after.delete(path);
    else after.set(path, hash);
  }
  return after;
}

/** Throws if a path that the edits add cannot be beside the other files. `nameOf` tells where the request names it. */
export function requireNoClashes(files: Files, after: Files, nameOf: (path: string) => string): void {
  const added = new Set([...after.keys()].filter((path) => !files.has(path)));
  const problems = [...clashes(after.keys(), added)];
  refuseAny(
    'file_path_taken',
    problems.map(([path, message]) => ({ path: nameOf(path), message: `${path} ${message}` })),
  );
}
