/**
 * Limits how much work runs at once. Other work waits in a queue that is limited in length and time, so that under
 * overload callers get an error soon. No sharer gets all places, and the sharers are served in turns, so that one
 * caller with a hundred requests does not keep the others waiting. With `rememberedMax`, a sharer who returns does not
 * count as a new one. Every second turn is for those who are new, if any wait, and every other one for those who
 * return: neither hundreds of callers who come again and again, nor callers with a new name each time, keep the others
 * waiting.
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
  /**
   * How many sharers with no calls are remembered by their last turn. It costs a look at every waiting sharer for each
   * turn, so it is for slow work.
   */
  rememberedMax?: number;
}

interface Waiting {
  begin(): void;
  refuse(): void;
  until: number;
}

interface Queue {
  running: number;
  waiting: Waiting[];
  /** The number of the last turn; 0 if none is remembered. */
  turn: number;
}

const busy = () => new ApiError('busy', { retryAfterSeconds: 1 });

export function createGate(limits: GateLimits): Gate {
  const { rememberedMax = 0 } = limits;
  /** Ordered by the last turn. A sharer who is new here is at the end. */
  const queues = new Map<Sharer, Queue>();
  /** The last turns of sharers with no calls, the earliest first. */
  const remembered = new Map<Sharer, number>();
  let turns = 0;
  /** Whether the last turn that both those who are new and those who return waited for was for a new one. */
  let wasForNew = false;
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
   * nobody else would get a turn. If no sharer has more than this one would have, and turns are remembered, it refuses
   * the call that would be last, of those who are new or of those who return: whichever are more. Returns false if that
   * is the call of this sharer.
   */
  function makeRoomFor(newcomer: Queue): boolean {
    const rivals = [...queues].filter(
      ([sharer, queue]) => queue === newcomer || (sharer !== null && queue.waiting.length > 0),
    );
    const longest = rivals.reduce((a, b) => (b[1].waiting.length > a[1].waiting.length ? b : a));
    const isLonger = longest[1].waiting.length > newcomer.waiting.length + 1;
    if (!isLonger && (!rememberedMax || newcomer.waiting.length)) return false;
    const [sharer, refused] = isLonger ? longest : lastInTurn(rivals);
    if (refused === newcomer) return false;
    refused.waiting.pop()!.refuse();
    waiting--;
    forgetIfIdle(sharer, refused);
    return true;
  }

  /** Of those who are new, or of those who return if they are as many or more. The order is that of `takeTurn`. */
  function lastInTurn(rivals: [Sharer, Queue][]): [Sharer, Queue] {
    const fresh = rivals.filter(([, queue]) => queue.turn === 0);
    if (fresh.length * 2 > rivals.length) return fresh[0]!;
    return rivals.reduce((a, b) => (b[1].turn > a[1].turn ? b : a));
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
    queue.turn = ++turns;
  }

  /**
   * Takes the next turn: of the first sharer that waits and may have one more place. If turns are remembered, the last one
   * to come is the first of the new ones: if hundreds come at once, those before it have a long wait in any case.
   */
  function takeTurn(): [Sharer, Queue] | undefined {
    let fresh: [Sharer, Queue] | undefined;
    let returning: [Sharer, Queue] | undefined;
    for (const entry of queues) {
      const [sharer, queue] = entry;
      if (!queue.waiting.length || !hasRoom(sharer, queue)) continue;
      if (!rememberedMax) return entry;
      if (queue.turn === 0) fresh = entry;
      else if (!returning || queue.turn < returning[1].turn) returning = entry;
    }
    if (!fresh || !returning) return fresh ?? returning;
    wasForNew = !wasForNew;
    return wasForNew ? fresh : returning;
  }

  /** Returns false if nobody can be admitted. */
  function admitNext(): boolean {
    const next = takeTurn();
    if (!next) return false;
    const [sharer, queue] = next;
    queues.delete(sharer);
    queues.set(sharer, queue);
    waiting--;
    begin(queue);
    queue.waiting.shift()!.begin();
    return true;
  }

  function leave(sharer: Sharer, queue: Queue) {
    running--;
    queue.running--;
    while (running < limits.atOnce && admitNext());
    forgetIfIdle(sharer, queue);
  }

  function forgetIfIdle(sharer: Sharer, queue: Queue) {
    if (queue.running > 0 || queue.waiting.length > 0 || queues.get(sharer) !== queue) return;
    queues.delete(sharer);
    if (rememberedMax && queue.turn) remember(sharer, queue.turn);
  }

  function remember(sharer: Sharer, turn: number) {
    remembered.delete(sharer);
    remembered.set(sharer, turn);
    if (remembered.size > rememberedMax) remembered.delete(remembered.keys().next().value!);
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
        queue = { running: 0, waiting: [], turn: remembered.get(sharer) ?? 0 };
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
