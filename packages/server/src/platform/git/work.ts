/**
 * Counts the steps of comparing texts, and ends the work at a limit. A step is the comparison of two lines, more or less,
 * and takes 5 to 20 ns. A text of 1 MB with a hundred changed lines on each side takes about 10 million steps.
 */

/** The limit for one text, a second or two. Beyond it the text counts as changed as a whole. */
const TEXT_STEPS = 100_000_000;

export class WorkLimitError extends Error {}

export class Work {
  #text = 0;
  #left: number;
  readonly #textMax: number;

  /** `total` is for all texts together. */
  constructor(total: number, textMax = TEXT_STEPS) {
    this.#left = total;
    this.#textMax = textMax;
  }

  /** None if the work could not be finished. */
  get left(): number {
    return Math.max(this.#left, 0);
  }

  beginText() {
    this.#text = 0;
  }

  spend(steps: number) {
    this.#text += steps;
    this.#left -= steps;
    if (this.#text > this.#textMax || this.#left <= 0) throw new WorkLimitError();
  }
}
