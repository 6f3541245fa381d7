/** Work that takes long is done in steps, between which the server does other things. */
import { setImmediate } from 'node:timers/promises';

const STEP_MS = 5;

/** Call it after each small piece of work. It waits if the step has taken long enough. */
export function createYielder(): () => Promise<void> | undefined {
  let from = performance.now();
  return () => {
    if (performance.now() - from < STEP_MS) return undefined;
    return setImmediate().then(() => {
      from = performance.now();
    });
  };
}
