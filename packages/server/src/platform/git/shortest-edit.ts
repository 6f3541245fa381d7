/**
 * Compares a part in which all common lines are frequent: by Myers' method ("An O(ND) Difference Algorithm and Its
 * Variations", 1986) in linear space. Lines that say little are left out first, and a search that takes long stops at
 * the best point so far. Where it stops decides what a merge returns, so the limits are those of git.
 */
import type { LineIds, Marks, Part } from './lines.ts';
import type { Work } from './work.ts';

/** How often each line occurs in either text. All counts are zero between two uses. */
export interface Counts {
  a: Int32Array;
  b: Int32Array;
}

export function compareFrequentLines(
  a: LineIds,
  b: LineIds,
  part: Part,
  { marks, counts, work }: { marks: Marks; counts: Counts; work: Work },
): void {
  for (let i = part.a; i < part.aEnd; i++) counts.a[a[i]!]!++;
  for (let i = part.b; i < part.bEnd; i++) counts.b[b[i]!]!++;
  const inner = withoutEqualEnds(a, b, part);
  const limits = { a: frequentFrom(part.aEnd - part.a), b: frequentFrom(part.bEnd - part.b) };
  const keep = { work, others: counts.b, frequent: limits.a, marks: marks.a.subarray(inner.a) };
  const keptA = keepTelling(a.subarray(inner.a, inner.aEnd), keep);
  const keepB = { work, others: counts.a, frequent: limits.b, marks: marks.b.subarray(inner.b) };
  const keptB = keepTelling(b.subarray(inner.b, inner.bEnd), keepB);
  for (let i = part.a; i < part.aEnd; i++) counts.a[a[i]!] = 0;
  for (let i = part.b; i < part.bEnd; i++) counts.b[b[i]!] = 0;
  work.spend((part.aEnd - part.a + part.bEnd - part.b) * 4);
  new ShortestEdit(keptA, keptB, work).search();
}

function withoutEqualEnds(a: LineIds, b: LineIds, part: Part): Part {
  const inner = { ...part };
  while (inner.a < inner.aEnd && inner.b < inner.bEnd && a[inner.a] === b[inner.b]) {
    inner.a++;
    inner.b++;
  }
  while (inner.a < inner.aEnd && inner.b < inner.bEnd && a[inner.aEnd - 1] === b[inner.bEnd - 1]) {
    inner.aEnd--;
    inner.bEnd--;
  }
  return inner;
}

/** A power of two near the square root. */
function roughRoot(n: number): number {
  let root = 1;
  for (let rest = n; rest > 0; rest >>= 2) root <<= 1;
  return root;
}

const FREQUENT_FROM_MAX = 1024;
const frequentFrom = (lines: number) => Math.min(roughRoot(lines), FREQUENT_FROM_MAX);

const UNMATCHED = 0;
const MATCHED = 1;
const FREQUENT = 2;

/** The lines that take part in the search. */
interface KeptLines {
  ids: Int32Array;
  /** Where they are in the part, and the marks of the part. */
  places: Int32Array;
  marks: Uint8Array;
}

/** Marks the lines that the other text does not have, and frequent lines among them. Keeps the others. */
function keepTelling(
  lines: LineIds,
  { work, others, frequent, marks }: { work: Work; others: Int32Array; frequent: number; marks: Uint8Array },
): KeptLines {
  const kinds = new Uint8Array(lines.length);
  for (let i = 0; i < lines.length; i++) {
    const count = others[lines[i]!]!;
    kinds[i] = count === 0 ? UNMATCHED : count >= frequent ? FREQUENT : MATCHED;
  }
  const places = new Int32Array(lines.length);
  const ids = new Int32Array(lines.length);
  let kept = 0;
  for (let i = 0; i < lines.length; i++) {
    const kind = kinds[i]!;
    if (kind === MATCHED || (kind === FREQUENT && !isAmongUnmatched(kinds, i, work))) {
      places[kept] = i;
      ids[kept++] = lines[i]!;
    } else marks[i] = 1;
  }
  return { ids: ids.subarray(0, kept), places: places.subarray(0, kept), marks };
}

const NEIGHBOURS = 100;
const UNMATCHED_TO_FREQUENT = 3;

function isAmongUnmatched(kinds: Uint8Array, i: number, work: Work): boolean {
  const before = countNeighbours(kinds, i, -1);
  work.spend(before.unmatched + before.frequent);
  if (!before.unmatched) return false;
  const after = countNeighbours(kinds, i, 1);
  work.spend(after.unmatched + after.frequent);
  if (!after.unmatched) return false;
  return (before.frequent + after.frequent) * UNMATCHED_TO_FREQUENT < before.unmatched + after.unmatched;
}

/** Counts lines up to the next one that is matched and not frequent. The line itself counts too. */
function countNeighbours(kinds: Uint8Array, i: number, step: 1 | -1) {
  let unmatched = 0;
  let frequent = 1;
  for (let n = 1; n <= NEIGHBOURS; n++) {
    const kind = kinds[i + n * step];
    if (kind === UNMATCHED) unmatched++;
    else if (kind === FREQUENT) frequent++;
    else break;
  }
  return { unmatched, frequent };
}

/** A rectangle of the two texts. `isExact` means that the search in it must not stop early. */
interface Box {
  x: number;
  xEnd: number;
  y: number;
  yEnd: number;
  isExact: boolean;
}

/** A point through which the path goes, and how to search before and after it. */
interface Split {
  x: number;
  y: number;
  isExactBefore: boolean;
  isExactAfter: boolean;
}

/** The range of diagonals that one of the two searches has reached. */
interface Band {
  low: number;
  high: number;
}

const COST_MIN = 256;
/** It jumps through the texts, so it takes longer than a comparison of neighbours. */
const STEPS_PER_DIAGONAL = 2;
/** A run of this many equal lines is a good place to stop. */
const GOOD_RUN = 20;
const GOOD_FACTOR = 4;
const BEYOND = 0x7fffffff;

class ShortestEdit {
  readonly #a: KeptLines;
  readonly #b: KeptLines;
  readonly #work: Work;
  readonly #costMax: number;
  /** By diagonal (x − y): how far the search from the start has come, and the search from the end. */
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  readonly #zero: number;

  constructor(a: KeptLines, b: KeptLines, work: Work) {
    const diagonals = a.ids.length + b.ids.length + 3;
    this.#a = a;
    this.#b = b;
    this.#work = work;
    this.#costMax = Math.max(roughRoot(diagonals), COST_MIN);
    this.#forward = new Int32Array(diagonals + 1);
    this.#backward = new Int32Array(diagonals + 1);
    this.#zero = b.ids.length + 1;
  }

  search() {
    const whole = { x: 0, xEnd: this.#a.ids.length, y: 0, yEnd: this.#b.ids.length, isExact: false };
    const boxes: Box[] = [whole];
    for (let box = boxes.pop(); box; box = boxes.pop()) {
      this.#shrink(box);
      if (box.x === box.xEnd) this.#mark(this.#b, box.y, box.yEnd);
      else if (box.y === box.yEnd) this.#mark(this.#a, box.x, box.xEnd);
      else {
        const { x, y, isExactBefore, isExactAfter } = this.#split(box);
        boxes.push(
          { ...box, xEnd: x, yEnd: y, isExact: isExactBefore },
          { ...box, x, y, isExact: isExactAfter },
        );
      }
    }
  }

  #mark({ marks, places }: KeptLines, from: number, to: number) {
    for (let i = from; i < to; i++) marks[places[i]!] = 1;
  }

  #shrink(box: Box) {
    const [a, b] = [this.#a.ids, this.#b.ids];
    while (box.x < box.xEnd && box.y < box.yEnd && a[box.x] === b[box.y]) {
      box.x++;
      box.y++;
    }
    while (box.x < box.xEnd && box.y < box.yEnd && a[box.xEnd - 1] === b[box.yEnd - 1]) {
      box.xEnd--;
      box.yEnd--;
    }
  }

  /** Searches from both corners until the two meet, or until enough was spent. */
  #split(box: Box): Split {
    const start = box.x - box.y;
    const end = box.xEnd - box.yEnd;
    const isOdd = ((start - end) & 1) === 1;
    const forward: Band = { low: start, high: start };
    const backward: Band = { low: end, high: end };
    this.#forward[this.#zero + start] = box.x;
    this.#backward[this.#zero + end] = box.xEnd;
    for (let cost = 1; ; cost++) {
      const ahead = this.#advance(box, forward, isOdd ? backward : undefined);
      if (ahead.meeting) return { ...ahead.meeting, isExactBefore: true, isExactAfter: true };
      const back = this.#retreat(box, backward, isOdd ? undefined : forward);
      if (back.meeting) return { ...back.meeting, isExactBefore: true, isExactAfter: true };
      this.#work.spend((ahead.steps + back.steps) * STEPS_PER_DIAGONAL);
      if (box.isExact) continue;
      if ((ahead.hasRun || back.hasRun) && cost > COST_MIN) {
        const good = this.#goodAhead(box, forward, cost) ?? this.#goodBack(box, backward, cost);
        if (good) return good;
      }
      if (cost >= this.#costMax) return this.#furthest(box, forward, backward);
    }
  }

  /** Widens the band by one diagonal on each side, or narrows it where it would leave the box. */
  #widen(box: Box, band: Band, values: Int32Array, outside: number) {
    if (band.low > box.x - box.yEnd) values[this.#zero + --band.low - 1] = outside;
    else band.low++;
    if (band.high < box.xEnd - box.y) values[this.#zero + ++band.high + 1] = outside;
    else band.high--;
  }

  /** One more edit from the start, on each diagonal. Stops if it meets the other search. */
  #advance(box: Box, band: Band, other: Band | undefined) {
    const [a, b, values] = [this.#a.ids, this.#b.ids, this.#forward];
    this.#widen(box, band, values, -1);
    let hasRun = false;
    let steps = 0;
    for (let d = band.high; d >= band.low; d -= 2) {
      const at = this.#zero + d;
      const from = values[at - 1]! >= values[at + 1]! ? values[at - 1]! + 1 : values[at + 1]!;
      let x = from;
      while (x < box.xEnd && x - d < box.yEnd && a[x] === b[x - d]) x++;
      if (x - from > GOOD_RUN) hasRun = true;
      values[at] = x;
      steps += x - from + 1;
      if (other && other.low <= d && d <= other.high && this.#backward[at]! <= x)
        return { meeting: { x, y: x - d }, hasRun, steps };
    }
    return { hasRun, steps };
  }

  /** One more edit from the end, on each diagonal. Stops if it meets the other search. */
  #retreat(box: Box, band: Band, other: Band | undefined) {
    const [a, b, values] = [this.#a.ids, this.#b.ids, this.#backward];
    this.#widen(box, band, values, BEYOND);
    let hasRun = false;
    let steps = 0;
    for (let d = band.high; d >= band.low; d -= 2) {
      const at = this.#zero + d;
      const from = values[at - 1]! < values[at + 1]! ? values[at - 1]! : values[at + 1]! - 1;
      let x = from;
      while (x > box.x && x - d > box.y && a[x - 1] === b[x - d - 1]) x--;
      if (from - x > GOOD_RUN) hasRun = true;
      values[at] = x;
      steps += from - x + 1;
      if (other && other.low <= d && d <= other.high && x <= this.#forward[at]!)
        return { meeting: { x, y: x - d }, hasRun, steps };
    }
    return { hasRun, steps };
  }

  /** The furthest point of the search from the start that is far for its cost, and follows a run of equal lines. */
  #goodAhead(box: Box, band: Band, cost: number): Split | undefined {
    let best: Split | undefined;
    let bestValue = 0;
    for (let d = band.high; d >= band.low; d -= 2) {
      const x = this.#forward[this.#zero + d]!;
      const y = x - d;
      const value = x - box.x + (y - box.y) - Math.abs(d - (box.x - box.y));
      if (value <= GOOD_FACTOR * cost || value <= bestValue) continue;
      if (x < box.x + GOOD_RUN || x >= box.xEnd || y < box.y + GOOD_RUN || y >= box.yEnd) continue;
      if (!this.#isRun(x - GOOD_RUN, y - GOOD_RUN)) continue;
      bestValue = value;
      best = { x, y, isExactBefore: true, isExactAfter: false };
    }
    return best;
  }

  #goodBack(box: Box, band: Band, cost: number): Split | undefined {
    let best: Split | undefined;
    let bestValue = 0;
    for (let d = band.high; d >= band.low; d -= 2) {
      const x = this.#backward[this.#zero + d]!;
      const y = x - d;
      const value = box.xEnd - x + (box.yEnd - y) - Math.abs(d - (box.xEnd - box.yEnd));
      if (value <= GOOD_FACTOR * cost || value <= bestValue) continue;
      if (x <= box.x || x > box.xEnd - GOOD_RUN || y <= box.y || y > box.yEnd - GOOD_RUN) continue;
      if (!this.#isRun(x, y)) continue;
      bestValue = value;
      best = { x, y, isExactBefore: false, isExactAfter: true };
    }
    return best;
  }

  #isRun(x: number, y: number): boolean {
    for (let n = 0; n < GOOD_RUN; n++) if (this.#a.ids[x + n] !== this.#b.ids[y + n]) return false;
    return true;
  }

  /** Where either search has come furthest. */
  #furthest(box: Box, forward: Band, backward: Band): Split {
    let ahead = { x: -1, y: 0 };
    for (let d = forward.high; d >= forward.low; d -= 2) {
      const x = Math.min(this.#forward[this.#zero + d]!, box.xEnd, box.yEnd + d);
      if (x + (x - d) > ahead.x + ahead.y) ahead = { x, y: x - d };
    }
    let back = { x: BEYOND, y: 0 };
    for (let d = backward.high; d >= backward.low; d -= 2) {
      const x = Math.max(this.#backward[this.#zero + d]!, box.x, box.y + d);
      if (x + (x - d) < back.x + back.y) back = { x, y: x - d };
    }
    const isAheadFurther = box.xEnd + box.yEnd - (back.x + back.y) < ahead.x + ahead.y - (box.x + box.y);
    return isAheadFurther
      ? { ...ahead, isExactBefore: true, isExactAfter: false }
      : { ...back, isExactBefore: false, isExactAfter: true };
  }
}
