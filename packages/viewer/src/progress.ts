/** Which widgets are not drawn yet. The dashboard counts as loaded when the last one is. */
export class Progress {
  readonly #onLoaded: (widgetCount: number, loadDurationMs: number) => void;
  #begunAt = performance.now();
  #count = 0;
  #pending: Set<string> | undefined;

  constructor(onLoaded: (widgetCount: number, loadDurationMs: number) => void) {
    this.#onLoaded = onLoaded;
  }

  begin() {
    this.#begunAt = performance.now();
  }

  expect(widgetIds: readonly string[]) {
    this.#pending = new Set(widgetIds);
    this.#count = widgetIds.length;
  }

  /** All that is expected may have been drawn already: nothing at all. */
  finishIfEmpty() {
    if (this.#pending?.size === 0) this.#finish();
  }

  rendered(widgetId: string) {
    if (this.#pending?.delete(widgetId) && this.#pending.size === 0) this.#finish();
  }

  stop() {
    this.#pending = undefined;
  }

  #finish() {
    this.#pending = undefined;
    this.#onLoaded(this.#count, Math.round(performance.now() - this.#begunAt));
  }
}
