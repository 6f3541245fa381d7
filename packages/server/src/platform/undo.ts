/** What was started, to be stopped in reverse. */
import type { Logger } from './log.ts';

export interface Undo {
  /** `what` completes "could not stop …". */
  add(what: string, step: () => unknown): void;
  /** Takes every step, also after one that fails. Rejects at the end where one did. */
  run(): Promise<void>;
}

export function createUndo(log: Logger): Undo {
  const steps: { what: string; step: () => unknown }[] = [];
  return {
    add: (what, step) => void steps.push({ what, step }),
    async run() {
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
    },
  };
}
