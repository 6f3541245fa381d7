/** Lets so many in at once. The others wait in their order, neither too many nor too long: overload answers promptly. */
import { ApiError } from '../errors.ts';

export interface Gate {
  readonly waiting: number;
  pass<T>(work: () => Promise<T>): Promise<T>;
}

const busy = () => new ApiError('busy', { retryAfterSeconds: 1 });

export function createGate(options: { atOnce: number; waitingMax: number; waitMs: number }): Gate {
  const waiting = new Set<() => void>();
  let running = 0;

  function wait(): Promise<void> {
    if (waiting.size >= options.waitingMax) throw busy();
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.delete(admit);
        reject(busy());
      }, options.waitMs);
      waiting.add(admit);
    });
  }

  /** The place is handed on, so that nobody who comes just now overtakes those who wait. */
  function leave() {
    const [next] = waiting;
    if (!next) return void running--;
    waiting.delete(next);
    next();
  }

  return {
    get waiting() {
      return waiting.size;
    },
    async pass(work) {
      if (running < options.atOnce) running++;
      else await wait();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
