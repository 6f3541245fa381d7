/** Git's objects, and the interface by which everything in this folder reads and writes them. */
import { hash } from 'node:crypto';
import { type Cache, createCache } from './cache.ts';

/** 40 lower-case hex digits: the hash that git itself computes. */
export type Hash = string;

export interface GitObject {
  type: 'blob' | 'tree' | 'commit';
  content: Buffer;
}

export interface TreeEntry {
  mode: Mode;
  name: string;
  hash: Hash;
}

/** As git writes them: file, executable file, symbolic link, directory, submodule. */
export type Mode = '100644' | '100755' | '120000' | '40000' | '160000';

/** The entries of one directory, in git's order. */
export type Tree = readonly TreeEntry[];

export interface Objects {
  /** Throws `MissingObjectError` if one of them is missing. */
  read(hashes: readonly Hash[]): Promise<Map<Hash, GitObject>>;
  /** Writes those that do not exist yet, and returns the hashes in the order of the objects. */
  write(objects: readonly GitObject[]): Promise<Hash[]>;
  /** The number of bytes of each blob. */
  sizes(blobs: readonly Hash[]): Promise<Map<Hash, number>>;
  /**
   * Reads these commits and some of their ancestors, the nearest first and about `limit` in total. One call saves a
   * walk through history many round trips.
   */
  readHistory(commits: readonly Hash[], limit: number): Promise<Map<Hash, GitObject>>;
  /** Parsed trees. Objects never change, so an entry is never wrong. */
  readonly trees: Cache<Tree>;
}

export class MissingObjectError extends Error {
  constructor(missing: Hash) {
    super(`there is no git object ${missing}`);
  }
}

export const hashOf = ({ type, content }: GitObject): Hash =>
  hash('sha1', Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]));

export const blobOf = (content: Buffer | string): GitObject => ({
  type: 'blob',
  content: Buffer.isBuffer(content) ? content : Buffer.from(content),
});

const MEMORY_TREES = 10_000;
export const treesInMemory = () => createCache<Tree>(MEMORY_TREES, (tree) => tree.length + 1);

/** Reads what `below` has, and keeps everything that is written in memory only. */
export function overlay(below: Objects): Objects {
  const above = new Map<Hash, GitObject>();
  const trees = treesInMemory();
  return {
    ...below,
    trees: { ...trees, get: (wanted) => trees.get(wanted) ?? below.trees.get(wanted) },
    async read(hashes) {
      const found = await below.read(hashes.filter((wanted) => !above.has(wanted)));
      for (const wanted of hashes) if (above.has(wanted)) found.set(wanted, above.get(wanted)!);
      return found;
    },
    async sizes(blobs) {
      const found = await below.sizes(blobs.filter((wanted) => !above.has(wanted)));
      for (const wanted of blobs) if (above.has(wanted)) found.set(wanted, above.get(wanted)!.content.length);
      return found;
    },
    async write(objects) {
      return objects.map((object) => {
        const own = hashOf(object);
        above.set(own, object);
        return own;
      });
    },
  };
}
