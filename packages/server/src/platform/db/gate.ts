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

interface Waiting {
  begin(): void;
  refuse(): void;
  until: number;
}

interface Queue {
  running: number;
  waiting: Waiting[];
}

const busy = () => new ApiError('busy', { retryAfterSeconds: 1 });

export function createGate(limits: GateLimits): Gate {
  /** Ordered by whose turn is next. */
  const queues = new Map<Sharer, Queue>();
  let running = 0;
  let waiting = 0;
  /** There is one timer for all, because a timer for each call would cost more than the rest of the gate. */
  let isTimed = false;

  const hasRoom = (sharer: Sharer, queue: Queue) => sharer === null || queue.running < limits.shareMax;

  function wait<T>(sharer: Sharer, queue: Queue, work: () => Promise<T>): Promise<T> {
    const isFull = sharer !== null && queue.waiting.length >= limits.waitingShareMax;
    if (isFull || (waiting >= limits.waitingMax && !makeRoomFor(queue))) {
      forgetIfIdle(sharer, queue);
      return Promise.reject(busy());
    }
    return new Promise((resolve, reject) => {
      waiting++;
      queue.waiting.push({
        begin: () => enter(sharer, queue, work).then(resolve, reject),
        refuse: () => reject(busy()),
        until: performance.now() + limits.waitMs,
      });
      if (!isTimed) refuseLateIn(limits.waitMs);
    });
  }

  /**
   * Refuses the last call of the sharer with the most waiting calls. Otherwise a few sharers could fill the queue, and
   * nobody else would get a turn. Returns false if this only moves the refusal to a sharer who has no more than this one.
   */
  function makeRoomFor(newcomer: Queue): boolean {
    let longest = newcomer;
    for (const [sharer, queue] of queues) {
      if (sharer !== null && queue.waiting.length > longest.waiting.length) longest = queue;
    }
    if (longest.waiting.length <= newcomer.waiting.length + 1) return false;
    longest.waiting.pop()!.refuse();
    waiting--;
    return true;
  }

  function refuseLateIn(ms: number) {
    isTimed = true;
    // Never the only thing that keeps the process alive.
    setTimeout(refuseLate, ms).unref();
  }

  /** All calls wait equally long, so the first of each queue is the first to be late. */
  function refuseLate() {
    isTimed = false;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const [sharer, queue] of queues) {
      while (queue.waiting[0] && queue.waiting[0].until <= now) {
        queue.waiting.shift()!.refuse();
        waiting--;
      }
      next = Math.min(next, queue.waiting[0]?.until ?? next);
      forgetIfIdle(sharer, queue);
    }
    if (waiting) refuseLateIn(Math.max(1, next - now));
  }

  function begin(queue: Queue) {
    running++;
    queue.running++;
  }

  /** Admits the next call of the first sharer in turn that may have one more place. Returns false if there is none. */
  function admitNext(): boolean {
    for (const [sharer, queue] of queues) {
      if (!queue.waiting.length || !hasRoom(sharer, queue)) continue;
      queues.delete(sharer);
      queues.set(sharer, queue);
      waiting--;
      begin(queue);
      queue.waiting.shift()!.begin();
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
    if (queue.running === 0 && queue.waiting.length === 0 && queues.get(sharer) === queue)
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
        queue = { running: 0, waiting: [] };
        queues.set(sharer, queue);
      }
      if (running < limits.atOnce && hasRoom(sharer, queue)) {
        begin(queue);
        return enter(sharer, queue, work);
      }
      return wait(sharer, queue, work);
    },
  };
}
