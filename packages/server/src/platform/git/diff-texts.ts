/** The difference of two texts for people, as `git diff` shows it. */
import { type Change, createDiff } from './diff-lines.ts';
import { bytesOf, LineNumbering, type Lines, STEPS_PER_LINE } from './lines.ts';
import { type Work, WorkLimitError } from './work.ts';

export interface DiffHunk {
  /** The first line in the old text, from 1, and the number of lines. Without lines, the line before the hunk. */
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  /** Each with a first character: a blank for both texts, `-` for the old one, `+` for the new one. */
  lines: string[];
}

const CONTEXT_LINES = 3;
/** Follows a line that has no line feed at its end. */
export const NO_LINE_FEED = '\\ No newline at end of file';

/** Texts that are too hard to compare are shown as replaced as a whole. */
export function diffTexts(before: Buffer, after: Buffer, work: Work): DiffHunk[] {
  const numbering = new LineNumbering();
  const a = numbering.split(before);
  const b = numbering.split(after);
  return groupNear(changesOf(numbering, a, b, work)).map((group) => hunkOf(group, a, b));
}

function changesOf(numbering: LineNumbering, a: Lines, b: Lines, work: Work): Change[] {
  try {
    work.spend((a.ids.length + b.ids.length) * STEPS_PER_LINE);
    return createDiff(numbering.size, work)(a.ids, b.ids);
  } catch (error) {
    if (error instanceof WorkLimitError) return [{ a: 0, aCount: a.ids.length, b: 0, bCount: b.ids.length }];
    throw error;
  }
}

/** Changes whose context would touch are shown together. */
function groupNear(changes: readonly Change[]): Change[][] {
  const groups: Change[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last && change.a - (last.a + last.aCount) <= 2 * CONTEXT_LINES) groups.at(-1)!.push(change);
    else groups.push([change]);
  }
  return groups;
}

function hunkOf(changes: readonly Change[], a: Lines, b: Lines): DiffHunk {
  const [first, last] = [changes[0]!, changes.at(-1)!];
  const lead = Math.min(CONTEXT_LINES, first.a);
  const end = Math.min(last.a + last.aCount + CONTEXT_LINES, a.ids.length);
  let at = first.a - lead;
  const lines = changes.flatMap((change) => {
    const before = show(' ', a, at, change.a - at);
    at = change.a + change.aCount;
    return before.concat(show('-', a, change.a, change.aCount), show('+', b, change.b, change.bCount));
  });
  for (const line of show(' ', a, at, end - at)) lines.push(line);
  const oldLines = end - (first.a - lead);
  const newLines = last.b + last.bCount + (end - at) - (first.b - lead);
  return {
    oldStart: first.a - lead + (oldLines ? 1 : 0),
    oldLines,
    newStart: first.b - lead + (newLines ? 1 : 0),
    newLines,
    lines,
  };
}

function show(sign: string, lines: Lines, from: number, count: number): string[] {
  return Array.from({ length: count }, (_, i) => bytesOf(lines, from + i, 1).toString()).flatMap((line) =>
    line.endsWith('\n') ? [sign + line.slice(0, -1)] : [sign + line, NO_LINE_FEED],
  );
}
