/** How long a handler may take, and how it learns that nobody waits for its answer any more. */
import type { ServerResponse } from 'node:http';
import type { Attempt } from '../audit/change.ts';
import { ApiError } from '../errors.ts';

export interface Lifetime {
  /** Aborted when the caller leaves, the time is over or the answer is complete. Made only for handlers that look at it. */
  readonly signal: AbortSignal;
  /** Rejects with a 504 where the work takes too long. What comes of it later is discarded. */
  within<T>(work: Promise<T>, discard: (late: T) => void): Promise<T>;
  /** Around each attempt to change something: what is given up changes nothing. */
  readonly attempt: Attempt;
}

export interface LifetimeOptions {
  response: ServerResponse;
  timeoutMs: number | undefined;
  /** Told of work that failed after its caller got the 504. */
  onLate(error: unknown): void;
}

export function createLifetime({ response, timeoutMs, onLate }: LifetimeOptions): Lifetime {
  let controller: AbortController | undefined;
  let isLate = false;
  let isCommitting = false;
  const timedOut = () => new ApiError('timed_out');

  function makeController() {
    const made = new AbortController();
    const end = () => made.abort(new Error('nobody waits for an answer'));
    if (response.closed) end();
    else response.once('close', end);
    if (isLate) made.abort(timedOut());
    return made;
  }

  /** What we threw ourselves, and what a handler throws that heeds its signal, is no news. */
  const reportLate = (error: unknown) => {
    if (error instanceof ApiError || (error as Error)?.name === 'AbortError') return;
    onLate(error);
  };

  return {
    get signal() {
      controller ??= makeController();
      return controller.signal;
    },
    within(work, discard) {
      if (timeoutMs === undefined) return work;
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          isLate = true;
          // The database decides now, and the caller is told what it decided.
          if (isCommitting) return;
          reject(timedOut());
          controller?.abort(timedOut());
        }, timeoutMs);
        work
          .then(
            (value) => (isLate && !isCommitting ? discard(value) : resolve(value)),
            (error) => (isLate && !isCommitting ? reportLate(error) : reject(error)),
          )
          .finally(() => clearTimeout(timer));
      });
    },
    attempt: {
      begin() {
        isCommitting = false;
        if (isLate) throw timedOut();
      },
      commit() {
        if (isLate) throw timedOut();
        isCommitting = true;
      },
    },
  };
}
