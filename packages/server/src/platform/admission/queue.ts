/** Those who have or want places of one key, and who of them is next. */

/**
 * Names whose work it is. Calls with the same name share their places. Null is for work without a share limit: our own, or
 * that of a key which is not shared. Its calls begin in the order in which they came.
 */
export type Sharer = string | null;

export interface QueueEntry {
  readonly places: number;
  readonly isAlone: boolean;
  /** The time after which the call is refused. */
  readonly until: number;
  /** Starts the call, after its place was counted as taken. */
  begin(): void;
  refuse(reason: unknown): void;
}

/** What one sharer has of a key. */
export interface Share {
  readonly name: Sharer;
  readonly queue: Queue;
  running: number;
  /** In the order in which they came. */
  waiting: QueueEntry[];
  /** The number of the last turn; 0 if none is remembered. */
  turn: number;
}

export interface Queue {
  readonly key: string | undefined;
  /** The most that a call has asked for. */
  places: number;
  sharerPlaces: number;
  running: number;
  runsAlone: boolean;
  waiting: number;
  /** The sharers with calls that run or wait. */
  readonly shares: Map<Sharer, Share>;
  /** The sharers with calls that wait, in the order in which they came or their last turn ended. */
  readonly line: Set<Share>;
  /** Work that was begun with a request, in this order. */
  readonly runs: Set<Run>;
  /** True if the last turn that both a new and a returning sharer waited for went to the new one: the next goes to the other. */
  wasForNew: boolean;
}

/** Work that runs and holds a place. */
export class Run {
  readonly since = performance.now();
  readonly share: Share;
  /** Whether the work can be preempted, and run again. */
  readonly isEndable: boolean;
  /** Whether the work was preempted before. */
  readonly isRequeued: boolean;
  /** Whether other work of the key ran at any time since this began. */
  hadOthers: boolean;
  /** When it was told to end. */
  endingSince: number | undefined;
  readonly #ending = new AbortController();
  readonly #left: Promise<void>;
  #leave!: () => void;

  constructor(
    share: Share,
    { isEndable = false, isRequeued = false }: { isEndable?: boolean; isRequeued?: boolean },
  ) {
    const { runs } = share.queue;
    this.share = share;
    this.isEndable = isEndable;
    this.isRequeued = isRequeued;
    this.hadOthers = runs.size > 0;
    for (const other of runs) other.hadOthers = true;
    this.#left = new Promise((resolve) => {
      this.#leave = resolve;
    });
    runs.add(this);
  }

  /** Aborted if the work is preempted. */
  get preempted() {
    return this.#ending.signal;
  }

  preempt(reason: Error) {
    this.endingSince = performance.now();
    this.#ending.abort(reason);
  }

  leave() {
    this.share.queue.runs.delete(this);
    this.#leave();
  }

  /** Resolves when all other work of the key that runs now has ended. */
  whenOthersLeft(): Promise<unknown> {
    return Promise.all([...this.share.queue.runs].filter((run) => run !== this).map((run) => run.#left));
  }
}

export const hasRoom = ({ name, running, queue }: Share) => name === null || running < queue.sharerPlaces;

export const fits = ({ running, runsAlone }: Queue, places: number, isAlone: boolean) =>
  running === 0 ? places > 0 : !isAlone && !runsAlone && running < places;

/** Returns the sharer with the fewest places; among equals, who has used the least, and then who stands first. */
export function nextOf({ line }: Queue, usedBy: ((sharer: string) => number) | undefined): Share | undefined {
  let next: Share | undefined;
  let fewest = 0;
  let least = 0;
  for (const share of line) {
    if (!hasRoom(share)) continue;
    const { name } = share;
    // Work without a share limit may have many places, and must not be last because of them.
    const running = name === null ? 0 : share.running;
    const used = name === null || !usedBy ? 0 : usedBy(name);
    if (next && (running > fewest || (running === fewest && used >= least))) continue;
    if (running === 0 && !usedBy) return share;
    next = share;
    fewest = running;
    least = used;
  }
  return next;
}

/**
 * Gives turns to new and to returning sharers alternately, if both wait. Of the new ones the last to come is next: if
 * hundreds come at once, those before it have a long wait in any case. Of the returning ones the one whose last turn
 * was the earliest is next.
 */
export function nextOfStrangers(queue: Queue): Share | undefined {
  let fresh: Share | undefined;
  let returning: Share | undefined;
  for (const share of queue.line) {
    if (!hasRoom(share)) continue;
    if (share.turn === 0) fresh = share;
    else if (!returning || share.turn < returning.turn) returning = share;
  }
  if (!fresh || !returning) return fresh ?? returning;
  queue.wasForNew = !queue.wasForNew;
  return queue.wasForNew ? fresh : returning;
}

/** Returns the sharer with the most waiting calls, if that is more than the newcomer would have. */
export function longestOf({ line }: Queue, newcomer: Share): Share | undefined {
  let most = newcomer;
  for (const share of line) {
    if (share.name !== null && share.waiting.length > most.waiting.length) most = share;
  }
  return most.waiting.length > newcomer.waiting.length + 1 ? most : undefined;
}

/** Returns who would have the last turn: of the new sharers if most are new, otherwise of the returning ones. */
export function lastOfStrangers({ line }: Queue, newcomer: Share): Share {
  const rivals = [...line].filter(({ name }) => name !== null).concat(newcomer);
  const fresh = rivals.filter(({ turn }) => turn === 0);
  if (fresh.length * 2 > rivals.length) return fresh[0]!;
  return rivals.reduce((a, b) => (b.turn > a.turn ? b : a));
}
