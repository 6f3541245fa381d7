/**
 * Moves each group of changed lines to the place where git shows it. Where a group repeats the lines before or after
 * it, several places are right. It goes as far down as possible, or beside the last change of the other text that it
 * can reach. Groups that touch on the way become one.
 */
import type { LineIds } from './lines.ts';
import type { Work } from './work.ts';

/** A group of changed lines. It may be empty: there is one between each two unchanged lines. The end is exclusive. */
class Group {
  start = 0;
  end = 0;
  readonly #lines: LineIds;
  readonly #marks: Uint8Array;

  constructor(lines: LineIds, marks: Uint8Array) {
    this.#lines = lines;
    this.#marks = marks;
    this.#growDown();
  }

  get size() {
    return this.end - this.start;
  }

  next(): boolean {
    if (this.end === this.#lines.length) return false;
    this.start = ++this.end;
    this.#growDown();
    return true;
  }

  previous() {
    this.end = --this.start;
    this.#growUp();
  }

  slideUp(): boolean {
    if (this.start === 0 || this.#lines[this.start - 1] !== this.#lines[this.end - 1]) return false;
    this.#marks[--this.start] = 1;
    this.#marks[--this.end] = 0;
    this.#growUp();
    return true;
  }

  slideDown(): boolean {
    if (this.end === this.#lines.length || this.#lines[this.start] !== this.#lines[this.end]) return false;
    this.#marks[this.start++] = 0;
    this.#marks[this.end++] = 1;
    this.#growDown();
    return true;
  }

  #growUp() {
    while (this.start > 0 && this.#marks[this.start - 1]) this.start--;
  }

  #growDown() {
    while (this.#marks[this.end]) this.end++;
  }
}

export function slideChanges(
  lines: LineIds,
  marks: Uint8Array,
  other: { lines: LineIds; marks: Uint8Array },
  work: Work,
): void {
  const group = new Group(lines, marks);
  // Always between the same two unchanged lines as `group`.
  const opposite = new Group(other.lines, other.marks);
  do {
    if (group.size) slideOne(group, opposite, work);
  } while (group.next() && opposite.next());
}

function slideOne(group: Group, opposite: Group, work: Work): void {
  let size: number;
  let highest: number;
  let canMeet: boolean;
  do {
    size = group.size;
    while (group.slideUp()) {
      opposite.previous();
      work.spend(1);
    }
    highest = group.end;
    canMeet = opposite.size > 0;
    while (group.slideDown()) {
      opposite.next();
      if (opposite.size) canMeet = true;
      work.spend(1);
    }
  } while (size !== group.size);
  if (group.end === highest || !canMeet) return;
  while (!opposite.size) {
    group.slideUp();
    opposite.previous();
  }
}
