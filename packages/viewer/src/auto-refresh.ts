/** Rows that are asked for again by the clock, if the dashboard says so. */
const SECONDS_MIN = 10;
const SECONDS_MAX = 24 * 60 * 60;

export class AutoRefresh {
  readonly #refresh: () => void;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(refresh: () => void) {
    this.#refresh = refresh;
  }

  /** Refreshes at this interval, except while the page is hidden. */
  every(asked: number) {
    this.stop();
    if (!(asked > 0)) return;
    const seconds = Math.min(Math.max(asked, SECONDS_MIN), SECONDS_MAX);
    this.#timer = setInterval(() => {
      if (!document.hidden) this.#refresh();
    }, seconds * 1000);
  }

  stop() {
    clearInterval(this.#timer);
  }
}
