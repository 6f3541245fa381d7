/** Merges files in memory: in a thread if they are not small; see `text-work.ts`. */
import { isBinary } from './lines.ts';
import { type ConflictHunk, type Markers, type MergedText, mergeTexts } from './merge-texts.ts';
import { blobOf, type Hash, hashOf } from './objects.ts';
import { Work, WorkLimitError } from './work.ts';

/**
 * What a file in conflict gets: our version; both versions between markers; or nothing, because the merge is refused. A
 * virtual merge makes the base of another merge, and gives files that cannot be marked the version of its own base.
 */
export type Outcome = 'ours' | 'refused' | (Markers & { isVirtual: boolean });

/** Three versions of a file. The base is empty if both sides added it. */
export interface ThreeTexts {
  base: Uint8Array;
  ours: Uint8Array;
  theirs: Uint8Array;
}

export interface MergeTask {
  kind: 'merge';
  files: ThreeTexts[];
  outcome: Outcome;
  /** How many characters of conflicts may be listed. */
  room: number;
}

export interface MergedFile {
  content: Uint8Array;
  hash: Hash;
  isClean: boolean;
  /** The texts in conflict. Long ones are cut, and the last ones are left out if there are too many. */
  hunks: ConflictHunk[];
}

export interface MergeAnswer {
  /** Fewer than in the task if the steps did not suffice. */
  files: MergedFile[];
  room: number;
  steps: number;
}

export function mergeFiles({ files, outcome, room, steps }: MergeTask & { steps: number }): MergeAnswer {
  const work = new Work(steps);
  const report = createReport(room);
  const merged: MergedFile[] = [];
  for (const file of files) {
    const texts = { base: bufferOf(file.base), ours: bufferOf(file.ours), theirs: bufferOf(file.theirs) };
    const result = tryMerge(texts, work);
    if (!work.left) break;
    const content = resultOf(result, texts, outcome);
    const isClean = typeof result !== 'string' && result.isClean;
    const hunks = isClean || outcome === 'ours' ? [] : report.cut(hunksOf(result, texts));
    merged.push({ content, hash: hashOf(blobOf(content)), isClean, hunks });
  }
  return { files: merged, room: report.room(), steps: work.left };
}

/** Makes a Buffer again: a message to a thread turns a Buffer into a plain array of bytes. */
export const bufferOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, byteLength);

interface Texts {
  base: Buffer;
  ours: Buffer;
  theirs: Buffer;
}

type MergedContent = MergedText | 'binary' | 'too much work';

function tryMerge(texts: Texts, work: Work): MergedContent {
  if (Object.values(texts).some(isBinary)) return 'binary';
  try {
    work.beginText();
    return mergeTexts(texts, work);
  } catch (error) {
    if (error instanceof WorkLimitError) return 'too much work';
    throw error;
  }
}

function resultOf(merged: MergedContent, { base, ours }: Texts, outcome: Outcome): Buffer {
  const markers = typeof outcome === 'string' ? undefined : outcome;
  if (typeof merged === 'string') return markers?.isVirtual ? base : ours;
  return merged.write(markers);
}

function hunksOf(merged: MergedContent, { base, ours, theirs }: Texts): ConflictHunk[] {
  if (merged === 'binary') return [];
  if (merged !== 'too much work') return merged.hunks();
  return [{ line: 1, base: base.toString(), ours: ours.toString(), theirs: theirs.toString() }];
}

const HUNK_LENGTH_MAX = 16 * 1024;

function createReport(given: number) {
  let room = given;
  const shorten = (text: string) =>
    text.length > HUNK_LENGTH_MAX ? `${text.slice(0, HUNK_LENGTH_MAX)}…` : text;
  return {
    room: () => room,
    cut(hunks: ConflictHunk[]): ConflictHunk[] {
      const kept: ConflictHunk[] = [];
      for (const { line, base, ours, theirs } of hunks) {
        const hunk = { line, base: shorten(base), ours: shorten(ours), theirs: shorten(theirs) };
        room -= hunk.base.length + hunk.ours.length + hunk.theirs.length;
        if (room < 0) break;
        kept.push(hunk);
      }
      return kept;
    },
  };
}
