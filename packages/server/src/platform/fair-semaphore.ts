/**
 * Gives the few places at a thing to those who share it, by turns: a free place goes to the sharer who has the fewest,
 * and among equal ones to who has used the least, if that is counted, or else to who waits for it the longest. With
 * `preemption`, a sharer who has no place at all gets one of a sharer who has used far more time.
 */
import { createUsedTime } from './used-time.ts';

export interface SemaphoreLimits {
  /** How many calls for one key run at once, unless the call says it. */
  places: number;
  /** How many of these one sharer can have. By default all but one, so that nobody keeps all others waiting. */
  sharerPlaces?: number;
  /**
   * How many calls may wait for one key, and how many of one sharer. Further calls are refused at once, but a sharer with
   * fewer takes the room of one with more.
   */
  waitingMax: number;
  sharerWaitingMax: number;
  waitMs: number;
  /** How much a sharer has used lately. */
  usedBy?: (sharer: string) => number;
  /** Makes the error for calls that are refused or have waited too long. */
  busy: () => Error;
  preemption?: Preemption;
}

/**
 * Work that was ended may be put back once. So that heavy work among equals is not started again and again without any
 * end, half of the places are safe for work that was put back, and such work ends no other.
 */
export interface Preemption {
  /** How long a sharer waits without a place before the work of another one is ended. */
  afterMs: number;
  /** Work that has not run this long is not ended. */
  ranMs: number;
  /**
   * How much more time than the one who waits its sharer must have used. A sharer who has only this place must also have
   * used so many times as much: those who share a busy thing by turns have a place each and differ by some factor, because
   * their work does. To end work among them would only waste it.
   */
  leadTimes: number;
  leadMs: number;
  /** Makes the reason with which the work is aborted. */
  reason: () => Error;
  /** Called with the names of both. */
  onEnd?(ended: string, waiting: string): void;
}

export interface Wish {
  key: string;
  sharer: string;
  /** Of this key. All calls for a key must say the same. */
  places?: number | undefined;
  /** If it is aborted before the work begins, the call rejects with its reason. */
  signal?: AbortSignal | undefined;
  /** Whether the work can be ended for somebody else, and run again. */
  isEndable?: boolean | undefined;
  /** Whether it was ended for somebody else before. */
  isPutBack?: boolean | undefined;
}

export interface FairSemaphore {
  /** Runs the work when there is a place for it. The signal that it gets is aborted if it shall end for somebody else. */
  take<T>(wish: Wish, work: (ended: AbortSignal) => Promise<T>): Promise<T>;
}

interface Run {
  wish: Wish;
  since: number;
  /** When it was told to end. */
  endingSince?: number;
  controller: AbortController;
}

interface Waiting {
  start(): void;
  giveUp(reason: unknown): void;
}

interface Sharer {
  running: number;
  /** In the order in which they came. */
  waiting: Waiting[];
  /** The work that was told to end for this sharer. */
  ending?: Run | undefined;
}

interface Queue {
  places: number;
  /** In the order in which they began. */
  runs: Set<Run>;
  waiting: number;
  /** Those who have or want a place. The one whose turn ended last stands at the end. */
  sharers: Map<string, Sharer>;
}

/** Work that has not ended this long after it was told to is not counted on: other work is ended too. */
const STUCK_MS = 1000;

export function createFairSemaphore(limits: SemaphoreLimits): FairSemaphore {
  const { waitingMax, sharerWaitingMax, waitMs, usedBy = () => 0, busy, preemption } = limits;
  const queues = new Map<string, Queue>();
  const used = createUsedTime();
  const nameOf = ({ key, sharer }: Wish) => `${key} ${sharer}`;
  const sharerPlacesOf = ({ places }: Queue) => limits.sharerPlaces ?? Math.max(1, places - 1);

  /** The first of those who have the fewest places, and of these have used the least. */
  function nextOf(queue: Queue): Sharer | undefined {
    let next: { sharer: Sharer; used: number } | undefined;
    for (const [name, sharer] of queue.sharers) {
      if (!sharer.waiting.length || sharer.running >= sharerPlacesOf(queue)) continue;
      const used = usedBy(name);
      const isBefore =
        !next ||
        sharer.running < next.sharer.running ||
        (sharer.running === next.sharer.running && used < next.used);
      if (isBefore) next = { sharer, used };
    }
    return next?.sharer;
  }

  function begin(queue: Queue, sharer: Sharer, wish: Wish): Run {
    const run = { wish, since: performance.now(), controller: new AbortController() };
    queue.runs.add(run);
    sharer.running++;
    return run;
  }

  function end(queue: Queue, sharer: Sharer, run: Run) {
    const { sharer: name } = run.wish;
    queue.runs.delete(run);
    sharer.running--;
    if (preemption) used.add(nameOf(run.wish), performance.now() - run.since);
    queue.sharers.delete(name);
    queue.sharers.set(name, sharer);
  }

  function startWaiting(queue: Queue) {
    while (queue.runs.size < queue.places) {
      const next = nextOf(queue);
      if (!next) return;
      next.waiting.shift()!.start();
    }
  }

  function usedIn(queue: Queue, wish: Wish, now: number): number {
    let ms = used.of(nameOf(wish));
    for (const run of queue.runs) if (run.wish.sharer === wish.sharer) ms += now - run.since;
    return ms;
  }

  /** The longest-running work of the sharer who has used the most time. */
  function preemptable(
    queue: Queue,
    waiting: Wish,
    { ranMs, leadTimes, leadMs }: Preemption,
  ): Run | undefined {
    const now = performance.now();
    const safe = [...queue.runs].filter(({ wish }) => wish.isPutBack).slice(0, Math.floor(queue.places / 2));
    let found: Run | undefined;
    const usedByWaiting = usedIn(queue, waiting, now);
    let most = usedByWaiting + leadMs;
    for (const run of queue.runs) {
      const mayEnd = run.wish.isEndable && run.endingSince === undefined && !safe.includes(run);
      if (!mayEnd || now - run.since < ranMs) continue;
      const ms = usedIn(queue, run.wish, now);
      const isTurn = queue.sharers.get(run.wish.sharer)!.running === 1;
      if (ms > most && (!isTurn || ms > leadTimes * usedByWaiting + leadMs)) {
        most = ms;
        found = run;
      }
    }
    return found;
  }

  function preempt(queue: Queue, sharer: Sharer, wish: Wish, how: Preemption) {
    if (sharer.running > 0) return;
    const { ending } = sharer;
    if (ending && queue.runs.has(ending) && performance.now() - ending.endingSince! < STUCK_MS) return;
    const run = preemptable(queue, wish, how);
    if (!run) return;
    run.endingSince = performance.now();
    sharer.ending = run;
    how.onEnd?.(run.wish.sharer, wish.sharer);
    run.controller.abort(how.reason());
  }

  /** Refuses the last call of the sharer with the most that wait, so that a few sharers do not fill the queue for all. */
  function makeRoom(queue: Queue, { waiting }: Sharer): boolean {
    let most = waiting;
    for (const other of queue.sharers.values()) if (other.waiting.length > most.length) most = other.waiting;
    // Among equals, who came first stays.
    if (most.length <= waiting.length + 1) return false;
    most.at(-1)!.giveUp(busy());
    return true;
  }

  function wait(queue: Queue, sharer: Sharer, wish: Wish): Promise<Run> {
    const { signal } = wish;
    if (sharer.waiting.length >= sharerWaitingMax) return Promise.reject(busy());
    if (queue.waiting >= waitingMax && !makeRoom(queue, sharer)) return Promise.reject(busy());
    return new Promise((resolve, reject) => {
      queue.waiting++;
      const leave = () => {
        queue.waiting--;
        clearTimeout(timer);
        clearInterval(impatience);
        signal?.removeEventListener('abort', onAbort);
      };
      const start = () => {
        leave();
        // At once, so that the place is not given to another one too.
        resolve(begin(queue, sharer, wish));
      };
      const giveUp = (reason: unknown) => {
        leave();
        sharer.waiting.splice(sharer.waiting.indexOf(waiting), 1);
        reject(reason);
      };
      const waiting = { start, giveUp };
      const onAbort = () => giveUp(signal!.reason);
      const timer = setTimeout(() => giveUp(busy()), waitMs);
      const impatience =
        preemption && !wish.isPutBack
          ? setInterval(() => preempt(queue, sharer, wish, preemption), preemption.afterMs)
          : undefined;
      signal?.addEventListener('abort', onAbort);
      sharer.waiting.push(waiting);
    });
  }

  return {
    async take(wish, work) {
      const { key, sharer: name, places = limits.places } = wish;
      wish.signal?.throwIfAborted();
      const queue = queues.get(key) ?? { places, runs: new Set(), waiting: 0, sharers: new Map() };
      queues.set(key, queue);
      const sharer: Sharer = queue.sharers.get(name) ?? { running: 0, waiting: [] };
      queue.sharers.set(name, sharer);
      const forget = () => {
        const isDone = !sharer.running && !sharer.waiting.length;
        if (isDone && queue.sharers.get(name) === sharer) queue.sharers.delete(name);
        if (!queue.sharers.size && queues.get(key) === queue) queues.delete(key);
      };
      let run: Run;
      try {
        // A place that is free is taken at once, so those who wait may not have it: they have all that they can have.
        const isFree = queue.runs.size < places && sharer.running < sharerPlacesOf(queue);
        run = isFree ? begin(queue, sharer, wish) : await wait(queue, sharer, wish);
      } catch (error) {
        forget();
        throw error;
      }
      try {
        return await work(run.controller.signal);
      } finally {
        end(queue, sharer, run);
        forget();
        startWaiting(queue);
      }
    },
  };
}
