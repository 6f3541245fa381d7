/**
 * The one way to wait: a fair semaphore for each key, with a bounded queue. It limits concurrency, makes calls wait, and refuses
 * them (429 or 503) if the queue is full or the wait is too long. With one place it is a mutex. A free place of a key goes to the
 * sharer who has the fewest, among equal ones to who has used the least, if that is counted, and then to who has waited
 * the longest. One sharer does not get all places, unless the limits say so, and queues are limited in length and time, so
 * that under overload callers get an error soon.
 */
import { ApiError, isApiError } from '../errors.ts';
import { createPreemption, type PreemptionLimits } from './preemption.ts';
import {
  fits,
  hasRoom,
  lastOfStrangers,
  longestOf,
  nextOf,
  nextOfStrangers,
  type Queue,
  type QueueEntry,
  Run,
  type Share,
  type Sharer,
} from './queue.ts';

export type { PreemptionLimits } from './preemption.ts';
export type { Sharer } from './queue.ts';

/** Why a call is refused: its sharer's calls fill their part of the queue, or all calls together fill it. */
export type Excess = 'sharer' | 'all';

export interface AdmissionLimits {
  /** How many calls for one key run at once, unless the call says it. */
  places: number;
  /** How many of these one sharer can have. By default all but one. */
  sharerPlaces?: number;
  /**
   * How many calls may wait for one key, and how many of one sharer. Further calls are refused at once, but a sharer with
   * fewer takes the room of one with more.
   */
  waitingMax: number;
  sharerWaitingMax?: number;
  /** How long a call may wait. By default without a limit. */
  waitMs?: number;
  /** How much a sharer has used lately. It costs a look at every waiting sharer for each turn. */
  usedBy?: (sharer: string) => number;
  /**
   * How many sharers without calls are remembered by their last turn, so that they do not count as new; see
   * `nextOfStrangers`. Set it if callers can have any number of names. It costs as much as `usedBy`, so it is for slow
   * work.
   */
  rememberedMax?: number;
  /** When running work of a sharer who has used far more time is ended for a sharer without any place. */
  preemption?: PreemptionLimits;
  /** Makes the error for calls that are refused or have waited too long. */
  refusal?: (excess: Excess) => Error;
}

export interface AdmissionRequest {
  /** Calls without a key share one. */
  key?: string;
  sharer?: Sharer;
  /** How many calls run at once. */
  places?: number;
  /** Whether no other work of the key runs at the same time. Only for keys without sharers: these are FIFO. */
  isAlone?: boolean;
  /** If it is aborted before the work begins, the call rejects with its reason. */
  signal?: AbortSignal | undefined;
  isEndable?: boolean;
  isRequeued?: boolean;
}

export interface Admission {
  /** How many calls without a key wait. */
  readonly waiting: number;
  /** How many keys have a call that runs or waits. Nothing is kept of others. */
  readonly keys: number;
  /** Runs the work when there is a place for it. */
  take<T>(request: AdmissionRequest, work: (run: Run) => Promise<T>): Promise<T>;
  /** A cheaper `take` without a key, for very frequent work. `work` must not throw, only reject. */
  pass<T>(sharer: Sharer, work: () => Promise<T>): Promise<T>;
  /** Takes a place until `leave`. Does not wait: if no place is free, returns why. */
  enter(sharer?: Sharer, key?: string): Excess | undefined;
  leave(sharer?: Sharer, key?: string): void;
}

/** Makes the error for "not now": the caller has too many calls under way, or the server has. */
export const notNow = (excess: Excess, message?: string, retryAfterSeconds?: number) =>
  new ApiError(excess === 'sharer' ? 'too_many_at_once' : 'busy', {
    ...(message !== undefined && { message }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  });

export const isNotNow = (error: unknown) =>
  isApiError(error, 'too_many_at_once') || isApiError(error, 'busy');

/** The list of every sharer without waiting calls, so that a sharer who never waits needs no list of its own. */
const NOBODY: QueueEntry[] = [];

export function createAdmission(limits: AdmissionLimits): Admission {
  const { waitingMax, sharerWaitingMax = waitingMax, waitMs = Number.POSITIVE_INFINITY } = limits;
  const { rememberedMax = 0, usedBy, refusal = notNow } = limits;
  const preemption = limits.preemption && createPreemption(limits.preemption);
  const queues = new Map<string, Queue>();
  const unkeyed = newQueue(undefined);
  /** The last turns of sharers with no calls, the earliest first. */
  const remembered = new Map<string, number>();
  let turns = 0;
  /** There is one timer for all, because a timer for each call would cost more than all the rest. */
  let isTimed = false;

  function newQueue(key: string | undefined): Queue {
    const counts = { places: 0, sharerPlaces: 0, running: 0, runsAlone: false, waiting: 0, wasForNew: false };
    return { key, ...counts, shares: new Map(), line: new Set(), runs: new Set() };
  }

  function queueOf(key: string | undefined, places: number): Queue {
    let queue = key === undefined ? unkeyed : queues.get(key);
    if (!queue) {
      queue = newQueue(key);
      queues.set(key!, queue);
    }
    if (places > queue.places) {
      queue.places = places;
      queue.sharerPlaces = limits.sharerPlaces ?? Math.max(1, places - 1);
    }
    return queue;
  }

  const rememberedName = ({ key }: Queue, name: Sharer) => `${key ?? ''} ${name}`;

  function shareOf(queue: Queue, name: Sharer): Share {
    let share = queue.shares.get(name);
    if (!share) {
      const turn = rememberedMax ? (remembered.get(rememberedName(queue, name)) ?? 0) : 0;
      share = { name, queue, running: 0, waiting: NOBODY, turn };
      queue.shares.set(name, share);
    }
    return share;
  }

  /** If a place is free although calls wait, their sharers have all that they can have, so another sharer may begin. */
  const canBegin = (share: Share, places: number, isAlone: boolean) =>
    share.waiting.length === 0 && hasRoom(share) && fits(share.queue, places, isAlone);

  function begin(share: Share, isAlone: boolean) {
    share.queue.running++;
    share.queue.runsAlone = isAlone;
    share.running++;
    share.turn = ++turns;
  }

  function end(share: Share) {
    const { queue } = share;
    queue.running--;
    share.running--;
    if (queue.waiting) {
      if (queue.line.delete(share)) queue.line.add(share);
      beginWaiting(queue);
    }
    forgetIfIdle(share);
  }

  function forgetIfIdle({ queue, name, running, waiting, turn }: Share) {
    if (running || waiting.length) return;
    queue.shares.delete(name);
    if (queue.key !== undefined && !queue.shares.size) queues.delete(queue.key);
    if (rememberedMax && turn) remember(rememberedName(queue, name), turn);
  }

  function remember(name: string, turn: number) {
    remembered.delete(name);
    remembered.set(name, turn);
    if (remembered.size > rememberedMax) remembered.delete(remembered.keys().next().value!);
  }

  function beginWaiting(queue: Queue) {
    while (queue.waiting && queue.running < queue.places) {
      const share = rememberedMax ? nextOfStrangers(queue) : nextOf(queue, usedBy);
      if (!share) return;
      const first = share.waiting[0]!;
      if (!fits(queue, first.places, first.isAlone)) return;
      remove(share, first);
      // At once, so that the place is not given to another one too.
      begin(share, first.isAlone);
      first.begin();
    }
  }

  function remove(share: Share, waiting: QueueEntry) {
    if (share.waiting[0] === waiting) share.waiting.shift();
    else share.waiting.splice(share.waiting.indexOf(waiting), 1);
    share.queue.waiting--;
    if (!share.waiting.length) share.queue.line.delete(share);
  }

  function refuse(share: Share, waiting: QueueEntry, reason: unknown) {
    remove(share, waiting);
    waiting.refuse(reason);
    // The calls behind this one may have waited only for it.
    beginWaiting(share.queue);
    forgetIfIdle(share);
  }

  /** Returns false if the call was refused. */
  function wait(share: Share, waiting: QueueEntry): boolean {
    const { queue, name } = share;
    const isFull = name !== null && share.waiting.length >= sharerWaitingMax;
    if (isFull || (queue.waiting >= waitingMax && !makeRoomFor(share))) {
      forgetIfIdle(share);
      waiting.refuse(refusal(isFull ? 'sharer' : 'all'));
      return false;
    }
    if (share.waiting === NOBODY) share.waiting = [];
    share.waiting.push(waiting);
    queue.line.add(share);
    queue.waiting++;
    if (!isTimed) refuseLateIn(waitMs);
    return true;
  }

  /**
   * Refuses the last call of the sharer with the most waiting calls: otherwise a few sharers could fill the queue, and
   * no other would get a turn. Among equals the earlier call stays. But if turns are remembered, a newcomer without a
   * waiting call takes the room of the sharer who would be last.
   */
  function makeRoomFor(newcomer: Share): boolean {
    const { queue, waiting } = newcomer;
    let last = longestOf(queue, newcomer);
    if (!last && rememberedMax && !waiting.length) last = lastOfStrangers(queue, newcomer);
    if (!last || last === newcomer) return false;
    refuse(last, last.waiting.at(-1)!, refusal('all'));
    return true;
  }

  function refuseLateIn(ms: number) {
    if (ms === Number.POSITIVE_INFINITY) return;
    isTimed = true;
    // The timer must not keep the process alive.
    setTimeout(refuseLate, ms).unref();
  }

  /** All calls wait equally long, so the first of each sharer is the first to be late. */
  function refuseLate() {
    isTimed = false;
    const now = performance.now();
    let next = Number.POSITIVE_INFINITY;
    for (const { line } of [unkeyed, ...queues.values()]) {
      for (const share of line) {
        for (let first = share.waiting[0]; first && first.until <= now; first = share.waiting[0]) {
          refuse(share, first, refusal('all'));
        }
        next = Math.min(next, share.waiting[0]?.until ?? next);
      }
    }
    refuseLateIn(Math.max(1, next - now));
  }

  function waitWith(share: Share, request: AdmissionRequest, places: number, isAlone: boolean): Promise<Run> {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      let impatience: NodeJS.Timeout | undefined;
      const leave = () => {
        clearInterval(impatience);
        signal?.removeEventListener('abort', onAbort);
      };
      const waiting: QueueEntry = {
        places,
        isAlone,
        until: performance.now() + waitMs,
        begin() {
          leave();
          resolve(new Run(share, request));
        },
        refuse(reason) {
          leave();
          reject(reason);
        },
      };
      const onAbort = () => refuse(share, waiting, signal!.reason);
      if (!wait(share, waiting)) return;
      signal?.addEventListener('abort', onAbort);
      if (preemption && !request.isRequeued) {
        impatience = setInterval(() => preemption.makeWayFor(share), preemption.afterMs);
      }
    });
  }

  /** For speed, this is not an async function and has no `finally`: every statement passes here. */
  function runPassed<T>(share: Share, work: () => Promise<T>): Promise<T> {
    return work().then(
      (result) => {
        end(share);
        return result;
      },
      (error) => {
        end(share);
        throw error;
      },
    );
  }

  return {
    get waiting() {
      return unkeyed.waiting;
    },
    get keys() {
      return queues.size;
    },
    async take(request, work) {
      const { key, sharer = null, places = limits.places, isAlone = false } = request;
      request.signal?.throwIfAborted();
      const share = shareOf(queueOf(key, places), sharer);
      let run: Run;
      if (canBegin(share, places, isAlone)) {
        begin(share, isAlone);
        run = new Run(share, request);
      } else run = await waitWith(share, request, places, isAlone);
      try {
        return await work(run);
      } finally {
        run.leave();
        preemption?.count(run);
        end(share);
      }
    },
    pass(sharer, work) {
      const { places } = limits;
      const share = shareOf(queueOf(undefined, places), sharer);
      if (canBegin(share, places, false)) {
        begin(share, false);
        return runPassed(share, work);
      }
      return new Promise((resolve, reject) => {
        const begin = () => runPassed(share, work).then(resolve, reject);
        wait(share, { places, isAlone: false, until: performance.now() + waitMs, begin, refuse: reject });
      });
    },
    enter(sharer = null, key) {
      const share = shareOf(queueOf(key, limits.places), sharer);
      if (canBegin(share, limits.places, false)) return void begin(share, false);
      forgetIfIdle(share);
      return hasRoom(share) ? 'all' : 'sharer';
    },
    leave: (sharer = null, key) => end(queueOf(key, 0).shares.get(sharer)!),
  };
}
