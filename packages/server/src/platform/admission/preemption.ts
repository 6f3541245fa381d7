/**
 * Ends work of a sharer who has used far more time than one who waits without any place. Work that was ended may be put
 * back once. So that heavy work among equals is not started again and again without any end, half of the places are safe
 * for work that was put back, and such work ends no other.
 */
import { createUsedTime } from '../used-time.ts';
import type { Run, Share } from './queue.ts';

export interface PreemptionLimits {
  /** How long a sharer waits without a place before the work of another one is ended. */
  afterMs: number;
  /** Work that has not run this long is not ended. */
  ranMs: number;
  /**
   * A run is ended only if its sharer has used `leadMs` more than the sharer who waits. If it is the only run of its sharer,
   * that one must also have used `leadTimes` as much: sharers with one place each differ by some factor, because their work
   * does, and ending it would only waste it.
   */
  leadTimes: number;
  leadMs: number;
  /** Makes the reason with which the work is aborted. */
  reason: () => Error;
  /** Called with the names of the sharer whose work is ended and of the sharer who waits. */
  onEnd?(ended: string, waiting: string): void;
}

export interface Preemption {
  readonly afterMs: number;
  /** Counts the time of work that has ended. */
  count(run: Run): void;
  /** Ends work of another sharer if this one, who waits, has no place. */
  makeWayFor(share: Share): void;
}

/** Work that has not ended this long after it was told to counts as stuck: other work is ended too. */
const STUCK_MS = 1000;

export function createPreemption(limits: PreemptionLimits): Preemption {
  const { afterMs, ranMs, leadTimes, leadMs, reason, onEnd } = limits;
  const used = createUsedTime();
  /** The work that was told to end for a sharer. */
  const endings = new WeakMap<Share, Run>();
  const nameOf = ({ queue, name }: Share) => `${queue.key} ${name}`;

  function usedBy(share: Share, now: number): number {
    let ms = used.of(nameOf(share));
    for (const run of share.queue.runs) if (run.share === share) ms += now - run.since;
    return ms;
  }

  /** The longest-running work of the sharer who has used the most time. */
  function preemptable(waiting: Share): Run | undefined {
    const { runs, places } = waiting.queue;
    const now = performance.now();
    const safe = [...runs].filter(({ isRequeued }) => isRequeued).slice(0, Math.floor(places / 2));
    let found: Run | undefined;
    const usedByWaiting = usedBy(waiting, now);
    let most = usedByWaiting + leadMs;
    for (const run of runs) {
      const mayEnd = run.isEndable && run.endingSince === undefined && !safe.includes(run);
      if (!mayEnd || now - run.since < ranMs) continue;
      const ms = usedBy(run.share, now);
      const isTurn = run.share.running === 1;
      if (ms > most && (!isTurn || ms > leadTimes * usedByWaiting + leadMs)) {
        most = ms;
        found = run;
      }
    }
    return found;
  }

  return {
    afterMs,
    count: ({ share, since }) => used.add(nameOf(share), performance.now() - since),
    makeWayFor(share) {
      if (share.running > 0) return;
      const ending = endings.get(share);
      const isEnding = ending && share.queue.runs.has(ending);
      if (isEnding && performance.now() - ending.endingSince! < STUCK_MS) return;
      const run = preemptable(share);
      if (!run) return;
      endings.set(share, run);
      onEnd?.(String(run.share.name), String(share.name));
      run.preempt(reason());
    },
  };
}
