/**
 * Lets so many in at once. The others wait, neither too many nor too long: overload answers promptly. Nobody takes all
 * places, and who waits is let in in turns with the others, so that one caller with a hundred requests does not keep
 * those of everybody else waiting.
 */
import { ApiError } from '../errors.ts';

/** Whose work it is: callers with the same name share their places. Null for our own, which has no limit. */
export type Sharer = string | null;

export interface Gate {
  readonly waiting: number;
  /** `work` must not throw, only reject. */
  pass<T>(sharer: Sharer, work: () => Promise<T>): Promise<T>;
}

export interface GateLimits {
  atOnce: number;
  /** How many of the places one sharer may have. */
  shareMax: number;
  waitingMax: number;
  /** How many of one sharer may wait. */
  waitingShareMax: number;
  waitMs: number;
}

interface Queue {
  running: number;
  waiting: Set<() => void>;
}

const busy = () => new ApiError('busy', { retryAfterSeconds: 1 });

export function createGate(limits: GateLimits): Gate {
  /** In the order in which they are let in next. */
  const queues = new Map<Sharer, Queue>();
  let running = 0;
  let waiting = 0;

  const hasRoom = (sharer: Sharer, queue: Queue) => sharer === null || queue.running < limits.shareMax;

  function wait(sharer: Sharer, queue: Queue): Promise<void> {
    const isFull = sharer !== null && queue.waiting.size >= limits.waitingShareMax;
    if (isFull || waiting >= limits.waitingMax) {
      forgetIfIdle(sharer, queue);
      return Promise.reject(busy());
    }
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        queue.waiting.delete(admit);
        waiting--;
      };
      const admit = () => {
        stop();
        resolve();
      };
      const timer = setTimeout(() => {
        stop();
        forgetIfIdle(sharer, queue);
        reject(busy());
      }, limits.waitMs);
      queue.waiting.add(admit);
      waiting++;
    });
  }

  function begin(queue: Queue) {
    running++;
    queue.running++;
  }

  /** The next in turn who may have one more place. */
  function admitNext(): boolean {
    for (const [sharer, queue] of queues) {
      const [admit] = queue.waiting;
      if (!admit || !hasRoom(sharer, queue)) continue;
      queues.delete(sharer);
      queues.set(sharer, queue);
      begin(queue);
      admit();
      return true;
    }
    return false;
  }

  function leave(sharer: Sharer, queue: Queue) {
    running--;
    queue.running--;
    while (running < limits.atOnce && admitNext());
    forgetIfIdle(sharer, queue);
  }

  function forgetIfIdle(sharer: Sharer, queue: Queue) {
    if (queue.running === 0 && queue.waiting.size === 0 && queues.get(sharer) === queue)
      queues.delete(sharer);
  }

  /** Not an async function, and no `finally`: every query passes here. */
  function enter<T>(sharer: Sharer, queue: Queue, work: () => Promise<T>): Promise<T> {
    return work().then(
      (result) => {
        leave(sharer, queue);
        return result;
      },
      (error) => {
        leave(sharer, queue);
        throw error;
      },
    );
  }

  return {
    get waiting() {
      return waiting;
    },
    pass(sharer, work) {
      let queue = queues.get(sharer);
      if (!queue) {
        queue = { running: 0, waiting: new Set() };
        queues.set(sharer, queue);
      }
      if (running < limits.atOnce && hasRoom(sharer, queue)) {
        begin(queue);
        return enter(sharer, queue, work);
      }
      const present = queue;
      return wait(sharer, queue).then(() => enter(sharer, present, work));
    },
  };
}
