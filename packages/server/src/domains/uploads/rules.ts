/** What an upload means, as pure functions. */
import { createHash } from 'node:crypto';
import type { Edits, Files } from '../data-models/index.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Tools send the id, the transaction, or its JSON text. Returns nothing if it is something else. */
export function transactionId(given: string | { id: string }): string | undefined {
  if (typeof given !== 'string') return uploadId(given.id);
  const text = given.trim();
  if (!text.startsWith('{')) return uploadId(text);
  try {
    const { id } = JSON.parse(text) as { id?: unknown };
    return typeof id === 'string' ? uploadId(id) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns nothing if the database could not take the text as an id. */
const uploadId = (text: string): string | undefined => (UUID.test(text) ? text : undefined);

/** The files below the root, by their paths from there. */
export const below = <File>(root: string, files: ReadonlyMap<string, File>): Map<string, File> =>
  new Map(
    [...files]
      .filter(([path]) => path.startsWith(root))
      .map(([path, file]) => [path.slice(root.length), file]),
  );

/** What a finish asks for. */
export interface FinishRequest {
  /** The SHA-1 of each file, by path from the root of the upload. */
  wanted: ReadonlyMap<string, string>;
  removesOthers: boolean;
  message: string | null | undefined;
}

/** The same for requests that ask for the same. */
export const digestOf = ({ wanted, removesOthers, message = null }: FinishRequest): string =>
  createHash('sha256')
    .update(JSON.stringify([[...wanted].sort(([a], [b]) => (a < b ? -1 : 1)), removesOthers, message]))
    .digest('hex');

export interface Finish {
  /** The files of the branch below the root. */
  present: Files;
  /** The blob by the SHA-1 of its bytes: of the branch, and of what was sent. */
  blobByDigest: ReadonlyMap<string, string>;
  /** The SHA-1 of all files that there should be, by path. */
  wanted: ReadonlyMap<string, string>;
  removesOthers: boolean;
}

/** Returns the edits that make the branch hold the wanted files, and the paths whose content nobody has. */
export function planFinish({ present, blobByDigest, wanted, removesOthers }: Finish): {
  edits: Edits;
  unknown: string[];
} {
  const edits = new Map<string, string | null>();
  const unknown: string[] = [];
  for (const [path, digest] of wanted) {
    const blob = blobByDigest.get(digest);
    if (blob === undefined) unknown.push(path);
    else if (present.get(path) !== blob) edits.set(path, blob);
  }
  if (removesOthers) for (const path of present.keys()) if (!wanted.has(path)) edits.set(path, null);
  return { edits, unknown };
}
