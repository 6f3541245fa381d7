/** Three-way merge of texts, with the results and the conflicts of `git merge`. */
import { type Change, createDiff } from './diff-lines.ts';
import { bytesOf, LineNumbering, type Lines, STEPS_PER_LINE } from './lines.ts';
import type { Work } from './work.ts';

export interface ConflictHunk {
  /** The first line of the hunk in our text, from 1. */
  line: number;
  base: string;
  ours: string;
  theirs: string;
}

/** What stands in conflict markers, for merges of several bases. */
export interface Markers {
  ours: string;
  theirs: string;
  size: number;
}

/** A range of lines in each of the three texts. */
interface Range {
  base: number;
  baseCount: number;
  ours: number;
  oursCount: number;
  theirs: number;
  theirsCount: number;
}

/** A place where the merge differs from the base, and whose text it gets there. Both sides may have the same. */
interface Piece extends Range {
  from: 'ours' | 'theirs' | 'both' | 'conflict';
}

interface Texts {
  base: Lines;
  ours: Lines;
  theirs: Lines;
}

export class MergedText {
  readonly #texts: Texts;
  readonly #pieces: readonly Piece[];
  /** The places in conflict, each with the part of the base that both sides changed. */
  readonly #conflicts: readonly Range[];

  constructor(texts: Texts, pieces: readonly Piece[], conflicts: readonly Range[]) {
    this.#texts = texts;
    this.#pieces = pieces;
    this.#conflicts = conflicts;
  }

  get isClean(): boolean {
    return !this.#conflicts.length;
  }

  hunks(): ConflictHunk[] {
    const { base, ours, theirs } = this.#texts;
    return this.#conflicts.map((range) => ({
      line: range.ours + 1,
      base: bytesOf(base, range.base, range.baseCount).toString(),
      ours: bytesOf(ours, range.ours, range.oursCount).toString(),
      theirs: bytesOf(theirs, range.theirs, range.theirsCount).toString(),
    }));
  }

  /** The merged text. Conflicts get our text, or both texts between markers. */
  write(markers?: Markers): Buffer {
    const { ours, theirs } = this.#texts;
    const parts: Buffer[] = [];
    let done = 0;
    for (const piece of this.#pieces) {
      parts.push(bytesOf(ours, done, piece.ours - done));
      if (piece.from === 'theirs') parts.push(bytesOf(theirs, piece.theirs, piece.theirsCount));
      else if (piece.from === 'conflict' && markers) parts.push(...this.#marked(piece, markers));
      else parts.push(bytesOf(ours, piece.ours, piece.oursCount));
      done = piece.ours + piece.oursCount;
    }
    parts.push(bytesOf(ours, done, ours.ids.length - done));
    return Buffer.concat(parts);
  }

  #marked(piece: Piece, { ours, theirs, size }: Markers): Buffer[] {
    const end = this.#lineEnd(piece);
    const marker = (sign: string, label: string) => Buffer.from(`${sign.repeat(size)}${label}${end}`);
    const side = (lines: Lines, from: number, count: number) => {
      const bytes = bytesOf(lines, from, count);
      return bytes.length && bytes.at(-1) !== 0x0a ? [bytes, Buffer.from(end)] : [bytes];
    };
    return [
      marker('<', ` ${ours}`),
      ...side(this.#texts.ours, piece.ours, piece.oursCount),
      marker('=', ''),
      ...side(this.#texts.theirs, piece.theirs, piece.theirsCount),
      marker('>', ` ${theirs}`),
    ];
  }

  /** Returns the line end for markers: that of the text around, but a line feed alone if one of the texts uses it. */
  #lineEnd({ ours, theirs }: Piece): string {
    const ends = [
      lineEndAt(this.#texts.ours, Math.max(ours - 1, 0)),
      lineEndAt(this.#texts.theirs, Math.max(theirs - 1, 0)),
      lineEndAt(this.#texts.base, 0),
    ];
    return ends.find((end) => end === '\n') ?? ends[2] ?? '\n';
  }
}

/** Undefined if the text does not show it. The last line may have none; then the line before it counts. */
function lineEndAt({ bytes, starts, ids }: Lines, line: number): '\n' | '\r\n' | undefined {
  if (!ids.length) return undefined;
  const endOf = (i: number) => starts[i + 1]!;
  const hasEnd = bytes[endOf(line) - 1] === 0x0a;
  if (!hasEnd && line === 0) return undefined;
  const shown = hasEnd ? line : line - 1;
  const length = endOf(shown) - starts[shown]!;
  return length > 1 && bytes[endOf(shown) - 2] === 0x0d ? '\r\n' : '\n';
}

/** Throws `TooMuchWork` if the texts are too hard to compare. */
export function mergeTexts(given: { base: Buffer; ours: Buffer; theirs: Buffer }, work: Work): MergedText {
  const numbering = new LineNumbering();
  const texts = {
    base: numbering.split(given.base),
    ours: numbering.split(given.ours),
    theirs: numbering.split(given.theirs),
  };
  for (const { ids } of Object.values(texts)) work.spend(ids.length * STEPS_PER_LINE);
  const diff = createDiff(numbering.size, work);
  const combined = combine(
    texts,
    diff(texts.base.ids, texts.ours.ids),
    diff(texts.base.ids, texts.theirs.ids),
  );
  const pieces: Piece[] = [];
  const conflicts: Range[] = [];
  for (const piece of combined) {
    const refined = piece.from === 'conflict' ? refine(texts, piece, diff) : [piece];
    for (const each of refined) pieces.push(each);
    if (refined[0]!.from === 'conflict') conflicts.push(piece);
  }
  return new MergedText(texts, joinNearConflicts(pieces), conflicts);
}

/** The next changes of either side, and the pieces so far. */
class Combination {
  readonly pieces: Piece[] = [];

  /** A piece that touches the piece before it becomes a part of it. */
  add(piece: Piece) {
    const last = this.pieces.at(-1);
    const touches =
      last && (piece.ours <= last.ours + last.oursCount || piece.theirs <= last.theirs + last.theirsCount);
    if (!touches) return void this.pieces.push(piece);
    if (last.from !== piece.from) last.from = 'conflict';
    last.baseCount = piece.base + piece.baseCount - last.base;
    last.oursCount = piece.ours + piece.oursCount - last.ours;
    last.theirsCount = piece.theirs + piece.theirsCount - last.theirs;
  }

  /** A change of our side alone. `shift` is how far their text is ahead of the base here. */
  addOurs({ a, aCount, b, bCount }: Change, shift: number) {
    const theirs = { theirs: a + shift, theirsCount: aCount };
    this.add({ from: 'ours', base: a, baseCount: aCount, ours: b, oursCount: bCount, ...theirs });
  }

  addTheirs({ a, aCount, b, bCount }: Change, shift: number) {
    const ours = { ours: a + shift, oursCount: aCount };
    this.add({ from: 'theirs', base: a, baseCount: aCount, ...ours, theirs: b, theirsCount: bCount });
  }

  /** Changes of both sides that overlap or touch: together they cover the same lines of the base. */
  addConflict(ours: Change, theirs: Change) {
    const base = Math.min(ours.a, theirs.a);
    const end = Math.max(ours.a + ours.aCount, theirs.a + theirs.aCount);
    const covering = (change: Change) => {
      const start = change.b - (change.a - base);
      return { start, count: change.b + change.bCount + (end - change.a - change.aCount) - start };
    };
    const [our, their] = [covering(ours), covering(theirs)];
    this.add({
      from: 'conflict',
      base,
      baseCount: end - base,
      ours: our.start,
      oursCount: our.count,
      theirs: their.start,
      theirsCount: their.count,
    });
  }
}

function combine(texts: Texts, ours: readonly Change[], theirs: readonly Change[]): Piece[] {
  const combination = new Combination();
  let [i, j] = [0, 0];
  while (i < ours.length && j < theirs.length) {
    const [our, their] = [ours[i]!, theirs[j]!];
    const [ourEnd, theirEnd] = [our.a + our.aCount, their.a + their.aCount];
    if (ourEnd < their.a) {
      combination.addOurs(our, their.b - their.a);
      i++;
    } else if (theirEnd < our.a) {
      combination.addTheirs(their, our.b - our.a);
      j++;
    } else {
      if (!isSameChange(texts, our, their)) combination.addConflict(our, their);
      if (ourEnd >= theirEnd) j++;
      if (theirEnd >= ourEnd) i++;
    }
  }
  const { base } = texts;
  for (const our of ours.slice(i)) combination.addOurs(our, texts.theirs.ids.length - base.ids.length);
  for (const their of theirs.slice(j)) combination.addTheirs(their, texts.ours.ids.length - base.ids.length);
  return combination.pieces;
}

function isSameChange(texts: Texts, ours: Change, theirs: Change): boolean {
  if (ours.a !== theirs.a || ours.aCount !== theirs.aCount || ours.bCount !== theirs.bCount) return false;
  for (let n = 0; n < ours.bCount; n++)
    if (texts.ours.ids[ours.b + n] !== texts.theirs.ids[theirs.b + n]) return false;
  return true;
}

/** The parts of a conflict in which the two sides really differ, unless both sides made the same change. */
function refine(texts: Texts, piece: Piece, diff: ReturnType<typeof createDiff>): Piece[] {
  if (!piece.oursCount || !piece.theirsCount) return [piece];
  const changes = diff(
    texts.ours.ids.subarray(piece.ours, piece.ours + piece.oursCount),
    texts.theirs.ids.subarray(piece.theirs, piece.theirs + piece.theirsCount),
  );
  if (!changes.length) return [{ ...piece, from: 'both' }];
  return changes.map((change) => ({
    ...piece,
    ours: piece.ours + change.a,
    oursCount: change.aCount,
    theirs: piece.theirs + change.b,
    theirsCount: change.bCount,
  }));
}

/** Two conflicts with at most this many lines between them are easier to read as one. */
const NEAR_LINES = 3;

function joinNearConflicts(pieces: readonly Piece[]): Piece[] {
  const joined: Piece[] = [];
  for (const piece of pieces) {
    const last = joined.at(-1);
    const isNear =
      last?.from === 'conflict' &&
      piece.from === 'conflict' &&
      piece.ours - (last.ours + last.oursCount) <= NEAR_LINES;
    if (!isNear) joined.push({ ...piece });
    else {
      last.oursCount = piece.ours + piece.oursCount - last.ours;
      last.theirsCount = piece.theirs + piece.theirsCount - last.theirs;
    }
  }
  return joined;
}
