/**
 * Lets work on one thing take turns within this process, before any of it takes a database connection: what waits for
 * a lock in the database holds a connection, and a few of those would leave none for everybody else.
 */
export interface TurnLimits {
  /** How many of those that can run together do so at once. */
  togetherMax: number;
  /** How many wait for one thing. Who comes on top of them is refused at once. */
  waitingMax: number;
  waitMs: number;
  /** What those get who are refused, or have waited for too long. */
  busy: () => Error;
}

export interface Turns {
  /** Runs while nothing else does that has to do with the key. */
  alone<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Runs with others that can run together. */
  together<T>(key: string, work: () => Promise<T>): Promise<T>;
}

interface Waiting {
  isAlone: boolean;
  start: () => void;
}

/** What goes on with one key. Those who wait start in the order in which they came. */
interface Queue {
  running: number;
  runsAlone: boolean;
  waiting: Waiting[];
}

export function createTurns({ togetherMax, waitingMax, waitMs, busy }: TurnLimits): Turns {
  const queues = new Map<string, Queue>();

  const canStart = ({ running, runsAlone }: Queue, isAlone: boolean) =>
    running === 0 || (!isAlone && !runsAlone && running < togetherMax);

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
    for (let next = queue.waiting[0]; next && canStart(queue, next.isAlone); next = queue.waiting[0]) {
      queue.waiting.shift();
      begin(queue, next.isAlone);
      next.start();
    }
  }

  function wait(queue: Queue, isAlone: boolean): Promise<void> {
    if (queue.waiting.length >= waitingMax) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        queue.waiting.splice(queue.waiting.indexOf(waiting), 1);
        // Those behind it may have waited for nothing but this one.
        startWaiting(queue);
        reject(busy());
      }, waitMs);
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const waiting: Waiting = { isAlone, start };
      queue.waiting.push(waiting);
    });
  }

  async function take<T>(key: string, isAlone: boolean, work: () => Promise<T>): Promise<T> {
    const queue = queues.get(key) ?? { running: 0, runsAlone: false, waiting: [] };
    queues.set(key, queue);
    if (queue.waiting.length === 0 && canStart(queue, isAlone)) begin(queue, isAlone);
    else await wait(queue, isAlone);
    try {
      return await work();
    } finally {
      end(key, queue);
    }
  }

  return {
    alone: (key, work) => take(key, true, work),
    together: (key, work) => take(key, false, work),
  };
}
