/** The differences of files in memory: in a thread if they are not small; see `text-work.ts`. */
import { type DiffHunk, diffTexts } from './diff-texts.ts';
import { bufferOf } from './merge-files.ts';
import { Work } from './work.ts';

export interface DiffTask {
  kind: 'diff';
  /** Both versions of each file. One is empty if the file was added or removed. */
  files: { before: Uint8Array; after: Uint8Array }[];
  /** How many characters of lines may be shown. */
  room: number;
}

export interface FileDifference {
  hunks: DiffHunk[];
  /** Whether hunks are missing, because they are too large or the steps did not suffice. */
  isShortened: boolean;
}

export interface DiffAnswer {
  files: FileDifference[];
  room: number;
  steps: number;
}

/** A text that takes more is shown as replaced as a whole: nobody would read the difference. */
const TEXT_STEPS = 30_000_000;
/** What a line takes in a reply, beside its characters. */
const LINE_LENGTH = 10;

export function diffFiles({ files, room: given, steps }: DiffTask & { steps: number }): DiffAnswer {
  const work = new Work(steps, TEXT_STEPS);
  let room = given;
  const shown = files.map(({ before, after }): FileDifference => {
    const hunks: DiffHunk[] = [];
    if (room <= 0 || !work.left) return { hunks, isShortened: true };
    work.beginText();
    const all = diffTexts(bufferOf(before), bufferOf(after), work);
    for (const hunk of work.left ? all : []) {
      room -= hunk.lines.reduce((sum, line) => sum + line.length + LINE_LENGTH, 0);
      if (room > 0) hunks.push(hunk);
    }
    return { hunks, isShortened: hunks.length < all.length };
  });
  return { files: shown, room, steps: work.left };
}
