/**
 * A token bucket of CPU time for each sharer: used time is forgotten bit by bit, so that over a long time a sharer has
 * a share of a core, and more of it at once after a pause.
 */
import { ApiError } from './errors.ts';

export interface TimeBudgetLimits {
  /** What a sharer can use at once. */
  burstMs: number;
  /** The share of a core that a sharer can use all the time. */
  share: number;
}

export interface TimeBudget {
  /** What the sharer has used and what is not forgotten yet. */
  usedBy(sharer: string): number;
  use(sharer: string, ms: number): void;
  /** Throws a 429 that says when to come again, if the sharer has used everything. */
  requireTime(sharer: string): void;
}

/** The shortest time between two removals of sharers whose budgets are full again. */
const SWEEP_MS = 10_000;

export function createTimeBudget(
  { burstMs, share }: TimeBudgetLimits,
  message: string,
  now: () => number = () => performance.now(),
): TimeBudget {
  /** When the sharer will have a full budget again, if nothing more is used. */
  const fullAt = new Map<string, number>();
  let sweptAt = now();

  const usedBy = (sharer: string) => Math.max(0, ((fullAt.get(sharer) ?? 0) - now()) * share);

  function sweep(at: number) {
    if (at - sweptAt < SWEEP_MS) return;
    sweptAt = at;
    for (const [sharer, full] of fullAt) if (full <= at) fullAt.delete(sharer);
  }

  return {
    usedBy,
    use(sharer, ms) {
      const at = now();
      sweep(at);
      fullAt.set(sharer, Math.max(fullAt.get(sharer) ?? 0, at) + ms / share);
    },
    requireTime(sharer) {
      const tooMuch = usedBy(sharer) - burstMs;
      if (tooMuch <= 0) return;
      const retryAfterSeconds = Math.max(1, Math.ceil(tooMuch / share / 1000));
      throw new ApiError('too_many_at_once', { message, retryAfterSeconds });
    },
  };
}
