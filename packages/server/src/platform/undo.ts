/** What was started, to be stopped in reverse. */
import type { Logger } from './log.ts';

export interface Undo {
  /** `what` completes "could not stop …". */
  add(what: string, step: () => unknown): void;
  /**
   * Takes every step, also after one that fails. Rejects at the end where one did. Whoever calls it again meanwhile waits
   * for the same end.
   */
  run(): Promise<void>;
}

export function createUndo(log: Logger): Undo {
  const steps: { what: string; step: () => unknown }[] = [];
  let running: Promise<void> | undefined;

  async function takeSteps() {
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
    run: () => (running ??= takeSteps()),
  };
}
