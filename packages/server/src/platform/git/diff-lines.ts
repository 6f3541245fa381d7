/** The changes between two texts, as git finds and places them for a merge. */
import { createComparison } from './compare-lines.ts';
import type { LineIds, Marks } from './lines.ts';
import { slideChanges } from './slide-changes.ts';
import type { Work } from './work.ts';

/** Lines of the first text that were replaced by lines of the second. One of the two may be empty. */
export interface Change {
  a: number;
  aCount: number;
  b: number;
  bCount: number;
}

/** Returns a function that compares texts whose lines have this many different numbers. */
export function createDiff(size: number, work: Work) {
  const compare = createComparison(size, work);
  return (a: LineIds, b: LineIds): Change[] => {
    const marks = compare(a, b);
    slideChanges(a, marks.a, { lines: b, marks: marks.b }, work);
    slideChanges(b, marks.b, { lines: a, marks: marks.a }, work);
    return listChanges(marks);
  };
}

function listChanges(marks: Marks): Change[] {
  const changes: Change[] = [];
  for (let a = 0, b = 0; a < marks.a.length || b < marks.b.length; a++, b++) {
    const change = { a, aCount: 0, b, bCount: 0 };
    for (; marks.a[a]; a++) change.aCount++;
    for (; marks.b[b]; b++) change.bCount++;
    if (change.aCount || change.bCount) changes.push(change);
  }
  return changes;
}
