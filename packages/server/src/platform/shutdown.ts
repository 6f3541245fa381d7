/** Collects what was started, and stops it in the reverse order. */
import type { Logger } from './log.ts';

export interface Shutdown {
  /** `what` completes "could not stop …". */
  add(what: string, step: () => unknown): void;
  /**
   * Runs every step, even after one fails, and rejects at the end if one failed. Another call returns the same promise.
   */
  run(): Promise<void>;
}

export function createShutdown(log: Logger): Shutdown {
  const steps: { what: string; step: () => unknown }[] = [];
  let running: Promise<void> | undefined;

  async function runSteps() {
    const failed: string[] = [];
    for (const { what, step } of steps.splice(0).reverse()) {
      try {
        await step();
      } catch (error) {
        failed.push(what);
        log.error({ err: error }, `could not stop ${what}`);
      }
    }
    if (failed.length) throw new Error(`could not stop ${failed.join(', ')}`);
  }

  return {
    add: (what, step) => void steps.push({ what, step }),
    run: () => (running ??= runSteps()),
  };
}
