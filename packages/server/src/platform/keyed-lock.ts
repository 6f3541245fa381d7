/**
 * Makes work on the same thing take turns within this process, before it takes a database connection. Work that waits
 * for a lock in the database holds a connection, and a few of those would leave none for other requests.
 */
export interface LockLimits {
  /** How many calls of `together` run at once. */
  togetherMax: number;
  /** How many calls may wait for one key. Further calls are refused at once. */
  waitingMax: number;
  waitMs: number;
  /** Makes the error for calls that are refused or have waited too long. */
  busy: () => Error;
}

export interface KeyedLock {
  /**
   * Runs the work while no other work with this key runs. If the signal is aborted before, the call does not wait any
   * longer, and rejects with the reason of the signal.
   */
  alone<T>(key: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
  /**
   * Runs the work, possibly at the same time as other calls of `together`: if fewer of them than `max` run, or than
   * `togetherMax`. The signal is as for `alone`.
   */
  together<T>(key: string, work: () => Promise<T>, signal?: AbortSignal, max?: number): Promise<T>;
}

interface Waiting {
  isAlone: boolean;
  max: number;
  start: () => void;
}

/** The running and waiting calls of one key. Waiting calls start in the order in which they came. */
interface Queue {
  running: number;
  runsAlone: boolean;
  waiting: Waiting[];
}

export function createKeyedLock({ togetherMax, waitingMax, waitMs, busy }: LockLimits): KeyedLock {
  const queues = new Map<string, Queue>();

  const canStart = ({ running, runsAlone }: Queue, { isAlone, max }: Pick<Waiting, 'isAlone' | 'max'>) =>
    running === 0 || (!isAlone && !runsAlone && running < max);

  function begin(queue: Queue, isAlone: boolean) {
    queue.running++;
    queue.runsAlone = isAlone;
  }

  function end(key: string, queue: Queue) {
    queue.running--;
    startWaiting(queue);
    if (queue.running === 0) queues.delete(key);
  }

  function startWaiting(queue: Queue) {
    for (let next = queue.waiting[0]; next && canStart(queue, next); next = queue.waiting[0]) {
      queue.waiting.shift();
      begin(queue, next.isAlone);
      next.start();
    }
  }

  function wait(
    queue: Queue,
    how: Pick<Waiting, 'isAlone' | 'max'>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (queue.waiting.length >= waitingMax) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const release = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      const giveUp = (reason: unknown) => {
        release();
        queue.waiting.splice(queue.waiting.indexOf(waiting), 1);
        // The calls behind this one may have waited only for it.
        startWaiting(queue);
        reject(reason);
      };
      const timer = setTimeout(() => giveUp(busy()), waitMs);
      const onAbort = () => giveUp(signal!.reason);
      signal?.addEventListener('abort', onAbort);
      const start = () => {
        release();
        resolve();
      };
      const waiting: Waiting = { ...how, start };
      queue.waiting.push(waiting);
    });
  }

  async function take<T>(
    key: string,
    how: Pick<Waiting, 'isAlone' | 'max'>,
    work: () => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    signal?.throwIfAborted();
    const queue = queues.get(key) ?? { running: 0, runsAlone: false, waiting: [] };
    queues.set(key, queue);
    if (queue.waiting.length === 0 && canStart(queue, how)) begin(queue, how.isAlone);
    else await wait(queue, how, signal);
    try {
      return await work();
    } finally {
      end(key, queue);
    }
  }

  return {
    alone: (key, work, signal) => take(key, { isAlone: true, max: 1 }, work, signal),
    together: (key, work, signal, max = togetherMax) => take(key, { isAlone: false, max }, work, signal),
  };
}
