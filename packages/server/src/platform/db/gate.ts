/**
 * Limits how much work runs at once. Other work waits in a queue that is limited in length and time, so that under
 * overload callers get an error soon. No sharer gets all places, and the sharers are served in turns, so that one
 * caller with a hundred requests does not keep the others waiting.
 */
import { ApiError } from '../errors.ts';

/**
 * Names whose work it is. Callers with the same name share their places. Null is for our own work, which has no share
 * limit.
 */
export type Sharer = string | null;

export interface Gate {
  readonly waiting: number;
  /** `work` must not throw, only reject. */
  pass<T>(sharer: Sharer, work: () => Promise<T>): Promise<T>;
}

export interface GateLimits {
  atOnce: number;
  /** How many places one sharer may have. */
  shareMax: number;
  waitingMax: number;
  /** How many calls of one sharer may wait. */
  waitingShareMax: number;
  waitMs: number;
}

interface Queue {
  running: number;
  waiting: Set<() => void>;
}

const busy = () => new ApiError('busy', { retryAfterSeconds: 1 });

export function createGate(limits: GateLimits): Gate {
  /** Ordered by whose turn is next. */
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

  /** Admits the next call of the first sharer in turn that may have one more place. Returns false if there is none. */
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

  /** For speed, this is not an async function and has no `finally`: every query passes here. */
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
