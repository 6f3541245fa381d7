/** Short ways to make trees and commits in tests, and to read them. */
import { writeCommit } from '../src/platform/git/commits.ts';
import { blobOf, type Hash, type Objects } from '../src/platform/git/objects.ts';
import { answerTask } from '../src/platform/git/text-tasks.ts';
import type { TextWork } from '../src/platform/git/text-work.ts';
import { EMPTY_TREE, editTree, listTree } from '../src/platform/git/trees.ts';

export const AUTHOR = { name: 'Ada', email: 'ada@example.com', at: new Date('2026-01-02T03:04:05Z') };

/** Merges and compares texts without a thread. */
export const IN_PLACE: TextWork = {
  run: async (_bytes, load) => answerTask({ ...(await load()), steps: 1_000_000_000 }),
};

/** By path. */
export type Files = Record<string, string | Buffer>;

export async function treeOf(objects: Objects, files: Files): Promise<Hash> {
  const hashes = await objects.write(Object.values(files).map(blobOf));
  return editTree(objects, EMPTY_TREE, new Map(Object.keys(files).map((path, i) => [path, hashes[i]!])));
}

export const commitOf = async (objects: Objects, files: Files, ...parents: Hash[]): Promise<Hash> =>
  writeCommit(objects, { tree: await treeOf(objects, files), parents, author: AUTHOR, message: 'x' });

export async function filesOf(objects: Objects, tree: Hash): Promise<Record<string, string>> {
  const listed = await listTree(objects, tree);
  const found = await objects.read([...new Set(listed.values())]);
  return Object.fromEntries([...listed].map(([path, hash]) => [path, found.get(hash)!.content.toString()]));
}

/** A text of 1 MB in which every line is frequent, so that comparing two of them takes very long. */
export function hardText(seed: number): Buffer {
  const bytes = Buffer.alloc(1_000_000, '\n');
  let state = seed;
  for (let i = 0; i < bytes.length; i += 2) {
    state = (state * 1103515245 + 12345) & 0x7fffffff;
    bytes[i] = 0x61 + ((state >> 16) % 20);
  }
  return bytes;
}
