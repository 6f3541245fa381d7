/** An engine whose queries run in a process of its own. */
import { setTimeout } from 'node:timers/promises';
import type { Admission } from '../platform/admission/admission.ts';
import { ChildError, type RequestOptions } from '../platform/processes/channel.ts';
import type { SupervisedProcess } from '../platform/processes/supervise.ts';

import { createByteQueue } from './byte-queue.ts';
import {
  type Answer,
  CALL_TIMEOUT_MS,
  type CallLimits,
  type Column,
  DEFAULT_LIMITS,
  type Engine,
  EngineError,
  type EngineErrorCode,
  type Query,
  type QueryLimits,
  type Summary,
  type Table,
} from './engine.ts';
import type { Run } from './process/source.ts';

/** A query that has not ended this long after its time limit no longer holds its place. */
const ENDED_WITHIN_MS = 5000;

/** Gives the process to the work, and keeps the process running until the work has ended. */
export type WithProcess = <T>(work: (process: SupervisedProcess) => Promise<T>) => Promise<T>;

export interface ProcessEngineOptions {
  withProcess: WithProcess;
  /** The admission of all engines. */
  places: Admission;
  /** The key of this engine in it. */
  key: string;
  atOnce: number;
  /** Whether queries that run at once use the same memory, so that one may find none beside others. */
  sharesMemory: boolean;
}

export function createProcessEngine(options: ProcessEngineOptions): Engine {
  const { withProcess, places, key, atOnce, sharesMemory } = options;
  /**
   * Resolves with the first value that `work` passes to `begin`. The place is held until the engine has ended the work,
   * which may be after the caller got an error. Work that runs out of memory beside other queries is retried once when
   * they have ended, and holds no place until then. Only work that runs out of memory alone fails as too large.
   */
  const inTurn = <T>(
    { isEndable, ...limits }: Pick<QueryLimits, 'timeoutMs'> & Partial<QueryLimits> & { isEndable: boolean },
    work: (turn: Turn, begin: (value: T) => void) => Promise<unknown>,
  ) =>
    new Promise<T>((resolve, reject) => {
      const { signal, sharer = '', timeoutMs, isRequeued, onAsked } = limits;
      const leave = () => reject(signal!.reason);
      signal?.addEventListener('abort', leave, { once: true });
      let deadline: number | undefined;

      const attempt = (isFirst: boolean) =>
        places.take({ key, places: atOnce, sharer, signal, isEndable, isRequeued }, (place) =>
          withProcess(async (process) => {
            const { preempted } = place;
            const ending = signal ? AbortSignal.any([signal, preempted]) : preempted;
            deadline ??= performance.now() + timeoutMs;
            const hadOthers = () => sharesMemory && place.hadOthers;
            let ended: Promise<void> | undefined;
            const onSent = (sent: Promise<void>) => {
              ended = sent;
            };
            try {
              await work(
                { process, timeoutMs: leftUntil(deadline), signal: ending, onSent, hadOthers },
                resolve,
              );
            } catch (error) {
              if (isFirst && error instanceof OutOfMemoryError && error.mayRepeat) {
                return { othersLeft: place.whenOthersLeft() };
              }
              reject(explain(error, ending));
              const lateAt = preempted.aborted ? performance.now() : deadline;
              const late = setTimeout(leftUntil(lateAt + ENDED_WITHIN_MS), undefined, { ref: false });
              await Promise.race([ended, late]);
            }
            return undefined;
          }),
        );
      const attempts = async () => {
        const failed = await attempt(true);
        if (!failed) return;
        const hasTime = await Promise.race([
          failed.othersLeft.then(() => true),
          setTimeout(leftUntil(deadline!), false, { ref: false, ...(signal && { signal }) }),
        ]);
        if (!hasTime) throw new OutOfMemoryError(false);
        await attempt(false);
      };
      const ended = attempts()
        .catch((error) => reject(explain(error, signal)))
        .finally(() => signal?.removeEventListener('abort', leave));
      onAsked?.(ended);
    });

  const call = <T>(method: string, { credential, ...limits }: CallLimits = {}) =>
    inTurn<T>({ timeoutMs: CALL_TIMEOUT_MS, ...limits, isEndable: false }, async (turn, begin) =>
      begin(await twice(turn, (options) => turn.process.request<T>(method, { credential }, options))),
    );

  return {
    places: atOnce,
    query(query, given = {}) {
      const limits = { ...DEFAULT_LIMITS, ...given };
      return inTurn<Answer>({ ...limits, isEndable: true }, (turn, begin) =>
        runQuery(turn, query, limits, begin),
      );
    },
    listTables: (limits) => call<Table[]>('listTables', limits),
    async test(limits) {
      try {
        return { isReachable: true, message: await call<string>('test', limits) };
      } catch (error) {
        const isForCaller = limits?.credential && (error as EngineError).code === 'credential_refused';
        if (!(error instanceof EngineError) || isForCaller) throw error;
        return { isReachable: false, message: error.message.split('\n')[0]! };
      }
    },
  };
}

interface Turn extends Pick<RequestOptions, 'timeoutMs' | 'onSent'> {
  process: SupervisedProcess;
  /** Aborted if the caller leaves, or if the work is preempted. */
  signal: AbortSignal;
  /** Whether other queries used the same memory at any time. */
  hadOthers(): boolean;
}

/** Resolves when the query has ended. Calls `begin` when the first bytes arrive. */
async function runQuery(
  turn: Turn,
  query: Query,
  { maxRows, maxBytes, credential }: QueryLimits,
  begin: (answer: Answer) => void,
) {
  const left = new AbortController();
  const signal = AbortSignal.any([turn.signal, left.signal]);
  const queue = createByteQueue(() => left.abort(new Error('nobody reads the answer')));
  let hasBegun = false;
  let end: { resolve(summary: Summary): void; reject(error: Error): void };
  const summary = new Promise<Summary>((resolve, reject) => {
    end = { resolve, reject };
  });
  // A reader that sees the failure in the iteration may not read the summary: avoids an unhandled rejection.
  summary.catch(() => {});

  const onBytes = (bytes: Buffer, taken: () => void) => {
    if (hasBegun) return queue.push(bytes, taken);
    hasBegun = true;
    taken();
    begin({ columns: JSON.parse(bytes.toString()) as Column[], rows: queue, summary });
  };
  try {
    const run: Run = {
      query,
      maxRows,
      maxBytes,
      timeoutMs: turn.timeoutMs,
      ...(credential && { credential }),
    };
    const result = await twice(
      { ...turn, signal },
      (options) => turn.process.request<Summary>('query', run, { ...options, onBytes }),
      () => !hasBegun,
    );
    queue.end();
    end!.resolve(result);
  } catch (error) {
    const isTooLarge = error instanceof ChildError && error.remoteCode === 'query_too_large';
    const reason =
      isTooLarge && turn.hadOthers() ? new OutOfMemoryError(!hasBegun) : explain(error, turn.signal);
    queue.fail(reason);
    end!.reject(reason);
    throw reason;
  }
}

class OutOfMemoryError extends EngineError {
  readonly mayRepeat: boolean;

  constructor(mayRepeat: boolean) {
    super('busy', 'Other queries use the memory of this data source. Try again later.');
    this.mayRepeat = mayRepeat;
  }
}

const leftUntil = (deadline: number) => Math.max(1, deadline - performance.now());

/**
 * Retries a query once if it was lost with its process, which is safe because queries change nothing. Otherwise a query
 * that ends the process would also fail the queries of other callers.
 */
async function twice<T>(
  { process, timeoutMs, signal, onSent }: Turn,
  attempt: (options: RequestOptions) => Promise<T>,
  mayRepeat = () => true,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (let isFirst = true; ; isFirst = false) {
    await whenUp(process, leftUntil(deadline), signal);
    try {
      return await attempt({ timeoutMs: leftUntil(deadline), signal, onSent });
    } catch (error) {
      const isLost = error instanceof ChildError && error.code === 'gone';
      if (!isLost || !isFirst || !mayRepeat()) throw error;
    }
  }
}

async function whenUp(process: SupervisedProcess, withinMs: number, given: AbortSignal | undefined) {
  if (process.isUp) return;
  const late = AbortSignal.timeout(Math.ceil(withinMs));
  try {
    await process.whenUp(given ? AbortSignal.any([given, late]) : late);
  } catch (error) {
    given?.throwIfAborted();
    if (late.aborted) throw new EngineError('source_unavailable', 'The engine could not be started in time.');
    throw error;
  }
}

const MESSAGES: Record<string, [EngineErrorCode, string]> = {
  gone: ['source_unavailable', 'The engine ended during the query. Try again.'],
  timed_out: ['timed_out', 'The query took too long, and was ended.'],
  too_large: ['query_invalid', 'The query is too large.'],
};

function explain(error: unknown, given: AbortSignal | undefined): Error {
  if (given?.aborted) return given.reason as Error;
  if (!(error instanceof ChildError)) return error as Error;
  const [code, message] = MESSAGES[error.code] ?? [];
  if (code && message) return new EngineError(code, message);
  return new EngineError((error.remoteCode as EngineErrorCode | undefined) ?? 'query_failed', error.message);
}
