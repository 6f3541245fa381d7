/**
 * Gives the few places at a thing to those who share it, by turns: a free place goes to the sharer who has the fewest,
 * and among equal ones to who has used the least, if that is counted, or else to who waits for it the longest.
 */
export interface PlaceLimits {
  /** How many calls for one key run at once. */
  places: number;
  /** How many of these one sharer can have. */
  sharerPlaces: number;
  /** How many calls may wait for one key, and how many of one sharer. Further calls are refused at once. */
  waitingMax: number;
  sharerWaitingMax: number;
  waitMs: number;
  /** How much a sharer has used lately. */
  usedBy?: (sharer: string) => number;
  /** Makes the error for calls that are refused or have waited too long. */
  busy: () => Error;
}

export interface Wish {
  key: string;
  sharer: string;
  /** If it is aborted before the work begins, the call rejects with its reason. */
  signal?: AbortSignal | undefined;
}

export interface Places {
  /** Runs the work when there is a place for it. */
  take<T>(wish: Wish, work: () => Promise<T>): Promise<T>;
}

interface Sharer {
  running: number;
  /** In the order in which they came. */
  waiting: (() => void)[];
}

interface Queue {
  running: number;
  waiting: number;
  /** Those who have or want a place. The one whose turn ended last stands at the end. */
  sharers: Map<string, Sharer>;
}

export function createPlaces(limits: PlaceLimits): Places {
  const { places, sharerPlaces, waitingMax, sharerWaitingMax, waitMs, usedBy = () => 0, busy } = limits;
  const queues = new Map<string, Queue>();

  /** The first of those who have the fewest places, and of these have used the least. */
  function nextOf({ sharers }: Queue): Sharer | undefined {
    let next: { sharer: Sharer; used: number } | undefined;
    for (const [name, sharer] of sharers) {
      if (!sharer.waiting.length || sharer.running >= sharerPlaces) continue;
      const used = usedBy(name);
      const isBefore =
        !next ||
        sharer.running < next.sharer.running ||
        (sharer.running === next.sharer.running && used < next.used);
      if (isBefore) next = { sharer, used };
    }
    return next?.sharer;
  }

  function begin(queue: Queue, sharer: Sharer) {
    queue.running++;
    sharer.running++;
  }

  function end(queue: Queue, name: string, sharer: Sharer) {
    queue.running--;
    sharer.running--;
    queue.sharers.delete(name);
    queue.sharers.set(name, sharer);
  }

  function startWaiting(queue: Queue) {
    while (queue.running < places) {
      const next = nextOf(queue);
      if (!next) return;
      begin(queue, next);
      next.waiting.shift()!();
    }
  }

  function wait(queue: Queue, sharer: Sharer, signal: AbortSignal | undefined): Promise<void> {
    if (queue.waiting >= waitingMax || sharer.waiting.length >= sharerWaitingMax) {
      return Promise.reject(busy());
    }
    return new Promise((resolve, reject) => {
      queue.waiting++;
      const leave = () => {
        queue.waiting--;
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const start = () => {
        leave();
        resolve();
      };
      const giveUp = (reason: unknown) => {
        leave();
        sharer.waiting.splice(sharer.waiting.indexOf(start), 1);
        reject(reason);
      };
      const onAbort = () => giveUp(signal!.reason);
      const timer = setTimeout(() => giveUp(busy()), waitMs);
      signal?.addEventListener('abort', onAbort);
      sharer.waiting.push(start);
    });
  }

  return {
    async take({ key, sharer: name, signal }, work) {
      signal?.throwIfAborted();
      const queue = queues.get(key) ?? { running: 0, waiting: 0, sharers: new Map<string, Sharer>() };
      queues.set(key, queue);
      const sharer = queue.sharers.get(name) ?? { running: 0, waiting: [] };
      queue.sharers.set(name, sharer);
      const forget = () => {
        const isDone = !sharer.running && !sharer.waiting.length;
        if (isDone && queue.sharers.get(name) === sharer) queue.sharers.delete(name);
        if (!queue.sharers.size && queues.get(key) === queue) queues.delete(key);
      };
      try {
        // A place that is free is taken at once, so those who wait may not have it: they have all that they can have.
        if (queue.running < places && sharer.running < sharerPlaces) begin(queue, sharer);
        else await wait(queue, sharer, signal);
      } catch (error) {
        forget();
        throw error;
      }
      try {
        return await work();
      } finally {
        end(queue, name, sharer);
        forget();
        startWaiting(queue);
      }
    },
  };
}
