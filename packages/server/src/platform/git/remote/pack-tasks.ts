/** What the thread for packs does: plain data goes in and comes out. */
import type { GitObject, Hash } from '../objects.ts';
import { type ContentLimits, checkObjects, type References, type TreeSize } from './check-objects.ts';
import { type FileSelection, readFiles } from './read-files.ts';
import { type PackLimits, readPack } from './read-pack.ts';
import { RemoteError, type RemoteFailure } from './remote-error.ts';

export interface PackTask {
  pack: Uint8Array;
  limits: PackLimits & ContentLimits;
  /** Known objects, as bases for the deltas of a thin pack. */
  known: [Hash, PlainObject][];
  /** The sizes of folders that the reader has already. */
  sizes: [Hash, TreeSize][];
  /** The files to read, if nothing is to be stored: they alone are the answer then. */
  files?: FileSelection;
}

/** An object whose content is not a `Buffer`, because a thread receives plain arrays of bytes. */
interface PlainObject {
  type: GitObject['type'];
  content: Uint8Array;
}

export type PackAnswer =
  | { kind: 'objects'; objects: [Hash, PlainObject][]; references: References }
  | { kind: 'files'; files: [string, Uint8Array][] }
  | { kind: 'missing'; missing: Hash[] }
  | { kind: 'failed'; failure: RemoteFailure; message: string };

/** Errors are answers, because an error that crosses to another thread loses its class. */
export function answerPackTask({ pack, limits, known, sizes, files }: PackTask): PackAnswer {
  try {
    const { objects, missing } = readPack(toBuffer(pack), limits, toObjects(known));
    if (missing.length) return { kind: 'missing', missing };
    if (files) return { kind: 'files', files: readFiles(objects, files, limits) };
    return {
      kind: 'objects',
      objects: [...objects],
      references: checkObjects(objects, limits, new Map(sizes)),
    };
  } catch (error) {
    if (!(error instanceof RemoteError)) throw error;
    return { kind: 'failed', failure: error.failure, message: error.message };
  }
}

const toBuffer = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const toObjects = (list: [Hash, PlainObject][]): Map<Hash, GitObject> =>
  new Map(list.map(([hash, { type, content }]) => [hash, { type, content: toBuffer(content) }]));
