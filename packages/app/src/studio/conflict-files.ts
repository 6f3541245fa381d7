/** Files in conflict: three versions of each, what was decided for it, and what becomes of that. */
import type { OrielError } from '@oriel/client';
import { api } from '../data/api.ts';
import { loadFiles, type StudioFile } from './files.ts';
import type { Branch } from './studio.ts';
import { type Choice, hasMarkers, mergeTexts, type Piece, writeMerged } from './three-way.ts';

export interface ConflictFile {
  path: string;
  branch: StudioFile | undefined;
  parent: StudioFile | undefined;
  /** Undefined if only whole files can be chosen: one side deleted it, or it is not text. */
  pieces: readonly Piece[] | undefined;
}

export interface Decision {
  choices: ReadonlyMap<number, Choice>;
  /** The text as the person wrote it, which replaces the choices. */
  edited?: string | undefined;
  whole?: 'branch' | 'parent' | undefined;
}

export const UNDECIDED: Decision = { choices: new Map() };

type Files = ReadonlyMap<string, StudioFile>;
const byPath = (files: readonly StudioFile[]): Files => new Map(files.map((file) => [file.path, file]));
const isSame = (one: StudioFile | undefined, other: StudioFile | undefined) =>
  one?.text === other?.text && one?.base64 === other?.base64;

/** The newest commit that both branches have, or nothing if it is very far back. Then all that differs is asked about. */
async function findBase(deploymentId: number, branch: string, parent: string) {
  const [ours, theirs] = await Promise.all(
    [branch, parent].map((name) => api.listCommits({ deploymentId, name, first: 1000 })),
  );
  const known = new Set(theirs!.items.map(({ hash }) => hash));
  return ours!.items.find(({ hash }) => known.has(hash))?.hash;
}

/** Every file that both branches changed in different ways, also those that the server did not list. */
export async function loadConflicts(
  deploymentId: number,
  { name, parentBranch }: Branch,
  listed: readonly OrielError['conflicts'][number][],
): Promise<ConflictFile[]> {
  const commit = await findBase(deploymentId, name, parentBranch!);
  const [base, branch, parent] = await Promise.all([
    commit === undefined ? [] : loadFiles(deploymentId, name, { commit }),
    loadFiles(deploymentId, name),
    loadFiles(deploymentId, parentBranch!),
  ]);
  return findConflicts(
    byPath(base),
    byPath(branch),
    byPath(parent),
    listed.map(({ path }) => path),
  );
}

export function findConflicts(
  base: Files,
  branch: Files,
  parent: Files,
  listed: readonly string[],
): ConflictFile[] {
  const paths = new Set([...branch.keys(), ...parent.keys(), ...listed]);
  return [...paths].sort().flatMap((path) => {
    const [old, ours, theirs] = [base.get(path), branch.get(path), parent.get(path)];
    if (isSame(ours, theirs)) return [];
    const isListed = listed.includes(path);
    if (!isListed && (isSame(ours, old) || isSame(theirs, old))) return [];
    const isText = ours?.text !== undefined && theirs?.text !== undefined;
    const pieces = isText ? mergeTexts(old?.text ?? '', ours.text!, theirs.text!) : undefined;
    if (!isListed && pieces?.every(({ kind }) => kind === 'merged')) return [];
    return [{ path, branch: ours, parent: theirs, pieces }];
  });
}

/** The file as it was decided, `absent` if it is to go, or nothing while something is undecided. */
export function decidedFile(
  { path, branch, parent, pieces }: ConflictFile,
  { choices, edited, whole }: Decision,
  names: { branch: string; parent: string },
): StudioFile | 'absent' | undefined {
  if (whole) return (whole === 'branch' ? branch : parent) ?? 'absent';
  if (!pieces) return undefined;
  const text = edited ?? writeMerged(pieces, choices, names);
  return hasMarkers(text) ? undefined : { path, text };
}

/**
 * Merges the parent into the branch, and then gives the branch the files as they were decided. The parent is not touched.
 * Returns what has to be decided again, because the parent changed meanwhile.
 */
export async function resolveConflicts(
  deploymentId: number,
  { name, parentBranch }: Branch,
  decided: readonly { conflict: ConflictFile; file: StudioFile | 'absent' }[],
  message: string,
): Promise<ConflictFile[]> {
  const seen = byPath(await loadFiles(deploymentId, parentBranch!));
  const moved = decided.filter(({ conflict: { path, parent } }) => !isSame(parent, seen.get(path)));
  if (moved.length)
    return moved.map(({ conflict, file }) => {
      const [ours, theirs] = [file === 'absent' ? undefined : file, seen.get(conflict.path)];
      const isText = ours?.text !== undefined && theirs?.text !== undefined;
      const pieces = isText ? mergeTexts(conflict.parent?.text ?? '', ours.text!, theirs.text!) : undefined;
      return { path: conflict.path, branch: ours, parent: theirs, pieces };
    });
  const branchName = name;
  await api.commitChanges({ deploymentId, body: { branchName, message, resolveMergeConflict: true } });
  const now = byPath(await loadFiles(deploymentId, name));
  const files = decided.flatMap(({ conflict: { path }, file }) => {
    if (file === 'absent' || isSame(file, now.get(path))) return [];
    return file.text !== undefined
      ? [{ path, content: file.text }]
      : [{ path, content: file.base64!, encoding: 'base64' as const }];
  });
  const gone = decided.flatMap(({ conflict: { path }, file }) =>
    file === 'absent' && now.has(path) ? [{ path }] : [],
  );
  if (files.length) await api.updateFiles({ deploymentId, body: { branchName, files } });
  if (gone.length) await api.removeFiles({ deploymentId, body: { branchName, files: gone } });
  if (files.length || gone.length) await api.commitChanges({ deploymentId, body: { branchName, message } });
  return [];
}
