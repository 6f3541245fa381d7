/**
 * Finds the lines that two texts do not share, by the histogram method, as `git merge` does: the longest common part
 * that holds the rarest lines is kept, and the parts before and after it are compared in the same way. If all common
 * lines are frequent, the method of `shortest-edit.ts` compares that part. Merges depend on these choices, so they are
 * those of git. The property test compares the results.
 */
import type { LineIds, Marks, Part } from './lines.ts';
import { type Counts, compareFrequentLines } from './shortest-edit.ts';
import type { Work } from './work.ts';

/** A line that occurs more often than this in a part is frequent there. */
const RARE_MAX = 64;

/** Where each line occurs in the part of the first text. All counts are zero between two uses. */
interface Occurrences extends Counts {
  first: Int32Array;
  next: Int32Array;
}

/** Returns a function that compares texts whose lines have this many different numbers. */
export function createComparison(size: number, work: Work) {
  const counts: Counts = { a: new Int32Array(size), b: new Int32Array(size) };
  const first = new Int32Array(size);

  return (a: LineIds, b: LineIds): Marks => {
    const marks = { a: new Uint8Array(a.length), b: new Uint8Array(b.length) };
    const occurrences = { ...counts, first, next: new Int32Array(a.length) };
    const parts: Part[] = [{ a: 0, aEnd: a.length, b: 0, bEnd: b.length }];
    for (let part = parts.pop(); part; part = parts.pop()) {
      if (part.a === part.aEnd || part.b === part.bEnd) {
        markAll(marks, part);
        continue;
      }
      const common = findCommonPart(a, b, part, occurrences, work);
      if (common === 'nothing') markAll(marks, part);
      else if (common === 'frequent') compareFrequentLines(a, b, part, { marks, counts, work });
      else {
        parts.push({ ...part, aEnd: common.a, bEnd: common.b }, { ...part, a: common.aEnd, b: common.bEnd });
      }
    }
    return marks;
  };
}

function markAll(marks: Marks, part: Part) {
  marks.a.fill(1, part.a, part.aEnd);
  marks.b.fill(1, part.b, part.bEnd);
}

function findCommonPart(
  a: LineIds,
  b: LineIds,
  part: Part,
  { a: counts, first, next }: Occurrences,
  work: Work,
): Part | 'nothing' | 'frequent' {
  for (let i = part.aEnd - 1; i >= part.a; i--) {
    const id = a[i]!;
    next[i] = counts[id]!++ ? first[id]! : -1;
    first[id] = i;
  }
  let best: Part | undefined;
  let bestCount = RARE_MAX + 1;
  let bestLength = 1;
  let hasCommonLine = false;
  let steps = part.aEnd - part.a;
  for (let at = part.b; at < part.bEnd; ) {
    const id = b[at]!;
    const count = counts[id]!;
    let nextAt = at + 1;
    if (count) hasCommonLine = true;
    for (let place = count && count <= bestCount ? first[id]! : -1; place >= 0; ) {
      const common = { a: place, aEnd: place + 1, b: at, bEnd: at + 1 };
      const rarest = extend(a, b, part, common, counts);
      const length = common.aEnd - common.a;
      nextAt = Math.max(nextAt, common.bEnd);
      if (length > bestLength || rarest < bestCount) {
        best = common;
        bestLength = length;
        bestCount = rarest;
      }
      while (place >= 0 && place < common.aEnd) place = next[place]!;
      steps += length;
    }
    work.spend(steps + 1);
    steps = 0;
    at = nextAt;
  }
  for (let i = part.a; i < part.aEnd; i++) counts[a[i]!] = 0;
  if (hasCommonLine && bestCount > RARE_MAX) return 'frequent';
  return best ?? 'nothing';
}

/** Extends the common lines in both directions, and returns how often the rarest of them occurs. */
function extend(a: LineIds, b: LineIds, part: Part, common: Part, counts: Int32Array): number {
  let rarest = counts[a[common.a]!]!;
  while (common.a > part.a && common.b > part.b && a[common.a - 1] === b[common.b - 1]) {
    common.a--;
    common.b--;
    rarest = Math.min(rarest, counts[a[common.a]!]!);
  }
  while (common.aEnd < part.aEnd && common.bEnd < part.bEnd && a[common.aEnd] === b[common.bEnd]) {
    rarest = Math.min(rarest, counts[a[common.aEnd]!]!);
    common.aEnd++;
    common.bEnd++;
  }
  return rarest;
}
