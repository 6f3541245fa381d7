/** Texts as lines, and lines as numbers: comparing numbers is faster than comparing texts. */

export interface Lines {
  bytes: Buffer;
  /** Where each line starts, and at the end where the last one ends. A line includes its line feed. */
  starts: Uint32Array;
  /** The same number for the same line, also in the other texts of the same numbering. */
  ids: LineIds;
}

export type LineIds = Int32Array;

/** For each line, 1 if it is not part of the other text. */
export interface Marks {
  a: Uint8Array;
  b: Uint8Array;
}

/** A part of both texts. The ends are exclusive. */
export interface Part {
  a: number;
  aEnd: number;
  b: number;
  bEnd: number;
}

const LINE_FEED = 0x0a;
/** How much of a content is searched for a NUL: only the beginning, as git does. */
const SEARCHED_BYTES = 8000;
/** Splitting a line takes as long as many comparisons of numbers. */
export const STEPS_PER_LINE = 40;

/** Git compares and merges only texts: a NUL means that the content is something else. */
export const isBinary = (content: Buffer): boolean => content.subarray(0, SEARCHED_BYTES).includes(0);

export class LineNumbering {
  readonly #ids = new Map<string, number>();

  /** How many different lines there are in all texts so far. */
  get size(): number {
    return this.#ids.size;
  }

  split(bytes: Buffer): Lines {
    const starts: number[] = [];
    const ids: number[] = [];
    for (let start = 0; start < bytes.length; ) {
      const feed = bytes.indexOf(LINE_FEED, start);
      const end = feed < 0 ? bytes.length : feed + 1;
      starts.push(start);
      // One character for each byte, so that different bytes are different texts.
      ids.push(this.#idOf(bytes.toString('latin1', start, end)));
      start = end;
    }
    starts.push(bytes.length);
    return { bytes, starts: Uint32Array.from(starts), ids: Int32Array.from(ids) };
  }

  #idOf(line: string): number {
    const known = this.#ids.get(line);
    if (known !== undefined) return known;
    this.#ids.set(line, this.#ids.size);
    return this.#ids.size - 1;
  }
}

/** The bytes of some lines. */
export const bytesOf = ({ bytes, starts }: Lines, from: number, count: number): Buffer =>
  bytes.subarray(starts[from], starts[from + count]);
