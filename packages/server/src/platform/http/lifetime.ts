/** Limits how long a handler may take, and tells it when nobody waits for its reply any more. */
import type { ServerResponse } from 'node:http';
import type { Attempt } from '../audit/change.ts';
import { isLocked, isTimedOut } from '../db/database.ts';
import { ApiError } from '../errors.ts';

export interface Lifetime {
  /**
   * Aborted when the caller leaves, the time is over or the reply is complete. Created only for handlers that use it.
   */
  readonly signal: AbortSignal;
  /** Rejects with a 504 if the work takes too long. A later result is passed to `discard`. */
  within<T>(work: Promise<T>, discard: (late: T) => void): Promise<T>;
  /** Called around each attempt to change something, because a request that was given up must change nothing. */
  readonly attempt: Attempt;
}

export interface LifetimeOptions {
  response: ServerResponse;
  timeoutMs: number | undefined;
  /** Called if the work fails after its caller got the 504. */
  onLate(error: unknown): void;
}

export function createLifetime({ response, timeoutMs, onLate }: LifetimeOptions): Lifetime {
  let controller: AbortController | undefined;
  let isLate = false;
  let isCommitting = false;
  /** The caller got the 504. */
  let isAnswered = false;
  const timedOut = () => new ApiError('timed_out');

  function makeController() {
    const made = new AbortController();
    const end = () => made.abort(new ApiError('invalid_request', { message: 'The caller has left.' }));
    if (response.closed) end();
    else response.once('close', end);
    if (isLate) made.abort(timedOut());
    return made;
  }

  /**
   * Our own errors, the error of a handler that reacts to its signal, and a statement that takes too long are expected
   * and not reported.
   */
  const reportLate = (error: unknown) => {
    if (error instanceof ApiError || (error as Error)?.name === 'AbortError') return;
    if (isTimedOut(error) || isLocked(error)) return;
    onLate(error);
  };

  return {
    get signal() {
      controller ??= makeController();
      return controller.signal;
    },
    within(work, discard) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          isLate = true;
          // The commit has begun, so the caller gets its result.
          if (isCommitting) return;
          isAnswered = true;
          reject(timedOut());
          controller?.abort(timedOut());
        }, timeoutMs);
        work
          .then(
            (value) => (isAnswered ? discard(value) : resolve(value)),
            (error) => (isAnswered ? reportLate(error) : reject(error)),
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
