/**
 * Runs statements, and caches their results. A result is buffered as a whole, so that a failure half-way is an error
 * and not half an answer. Equal statements share one run (single-flight). Each embed tenant, each user and each
 * deployment's tokens may run a number of statements at once; their further statements wait.
 */

import { type Answer, type Column, PreemptedError, type QueryLimits } from '../../engines/engine.ts';
import { createAdmission, type Excess, notNow } from '../../platform/admission/admission.ts';
import { type ByteReservation, createByteBudget } from '../../platform/byte-budget.ts';
import { ApiError } from '../../platform/errors.ts';
import { bufferText, type StoredText } from './buffered-text.ts';
import { type CachedResult, createResultCache } from './result-cache.ts';

export interface ResultRequest {
  /** Everything that the result depends on. Two viewers share a result only if it is the same for both. */
  key: string;
  /** An older result is not used. */
  maxAgeMs: number;
  /** Whether to run it even if a result is known. */
  isRenewed: boolean;
  /** The sharer of the statements at once. */
  sharer: string;
  /**
   * How many statements the sharer runs at once: fewer than the data source does, so that no sharer blocks all others.
   */
  atOnce: number;
  /** Whether the result may be too large to be kept. Otherwise that is an error. */
  mayBeLarge: boolean;
  signal: AbortSignal;
  run(signal: AbortSignal, how: RunOptions): Promise<Answer>;
}

/** `onAsked` gets a promise that resolves when the engine has ended the statement. */
export type RunOptions = Required<Pick<QueryLimits, 'isRequeued' | 'onAsked'>>;

/** A result that is too large for the cache. Its reader must release its rows. */
export interface LargeResult {
  readonly columns: readonly Column[];
  readonly rows: StoredText;
  readonly rowCount: number;
  readonly isCapped: boolean;
  readonly at: Date;
}

export type Result = CachedResult | LargeResult;

export interface Results {
  /** A result that is kept and not older than this. */
  known(key: string, maxAgeMs: number): CachedResult | undefined;
  find(asked: ResultRequest): Promise<Result>;
  /**
   * Counts the bytes of an answer that its caller has not read yet. Throws a 429 or a 503 if there are too many of
   * them.
   */
  countUnread(sharer: string, bytes: number): ByteReservation;
}

export interface ResultLimits {
  cachedBytes: number;
  /** A larger result is not kept. */
  resultBytes: number;
  /** The bytes of all answers that are buffered or not read yet. One sharer has a quarter. */
  unreadBytes: number;
  /** The first bytes of each answer that do not count as unread. */
  smallBytes: number;
  waiting: number;
  waitMs: number;
}

const LIMITS: ResultLimits = {
  cachedBytes: 64 * 1024 * 1024,
  resultBytes: 4 * 1024 * 1024,
  unreadBytes: 512 * 1024 * 1024,
  smallBytes: 64 * 1024,
  waiting: 200,
  waitMs: 60_000,
};

/**
 * Errors by the limits of the caller who started a shared run. Callers who joined it start the statement again under their own
 * limits.
 */
const OF_SHARER: ReadonlySet<unknown> = new Set(['too_many_at_once', 'busy', 'timed_out']);

interface Turn extends ResultRequest {
  /** A promise for each statement that this caller has started: it resolves when the engine has ended the statement. */
  readonly started: Promise<void>[];
}

interface RunningQuery {
  /** The sharer that started it. */
  sharer: string;
  /** Ends the query. */
  controller: AbortController;
  waiters: number;
  outcome: Promise<Result>;
  result: Result | undefined;
}

/** `dataDir` is where large results are until they were read. */
export function createResults(dataDir: string, given: Partial<ResultLimits> = {}): Results {
  const limits = { ...LIMITS, ...given };
  const cache = createResultCache(limits.cachedBytes);
  const running = new Map<string, RunningQuery>();
  const unread = createByteBudget(limits.unreadBytes);
  const admission = createAdmission({
    places: 1,
    waitingMax: limits.waiting,
    waitMs: limits.waitMs,
    refusal: () => notNow('sharer', 'Too many of your queries wait. Try again later.'),
  });

  const known = ({ key, maxAgeMs, isRenewed }: ResultRequest) =>
    isRenewed ? undefined : cache.find(key, maxAgeMs);
  const runKeyOf = ({ key, mayBeLarge }: ResultRequest) => `${mayBeLarge} ${key}`;

  /**
   * A statement that was preempted for another sharer runs once more, unless all callers who waited for it have left.
   */
  async function bufferAll(asked: Turn, signal: AbortSignal): Promise<Result> {
    try {
      return await bufferOnce(asked, signal, false);
    } catch (error) {
      if (!(error instanceof PreemptedError)) throw error;
      signal.throwIfAborted();
      return bufferOnce(asked, signal, true);
    }
  }

  async function bufferOnce(asked: Turn, signal: AbortSignal, isRequeued: boolean): Promise<Result> {
    const at = new Date();
    const share = unread.reservationOf(asked.sharer);
    const text = bufferText(dataDir, limits.resultBytes);
    let bytes = 0;
    try {
      const answer = await asked.run(signal, { isRequeued, onAsked: (ended) => asked.started.push(ended) });
      for await (const piece of answer.rows) {
        bytes += piece.length;
        if (bytes > limits.resultBytes && !asked.mayBeLarge) throw tooLarge();
        const large = Math.min(piece.length, bytes - limits.smallBytes);
        if (large > 0 && !share.take(large)) throw tooManyUnread(share.excessOf(large));
        await text.add(piece);
      }
      const { isCapped, rowCount } = await answer.summary;
      const result = { columns: answer.columns, rows: text.end(), rowCount, isCapped, at };
      if (isKept(result)) cache.add(asked.key, result);
      return result as Result;
    } catch (error) {
      await text.discard();
      throw error;
    } finally {
      share.giveBack();
    }
  }

  function start(asked: Turn): RunningQuery {
    const key = runKeyOf(asked);
    const controller = new AbortController();
    const outcome = bufferAll(asked, controller.signal);
    const run: RunningQuery = { sharer: asked.sharer, controller, waiters: 0, outcome, result: undefined };
    running.set(key, run);
    const end = () => {
      if (running.get(key) === run) running.delete(key);
    };
    outcome.then((result) => {
      end();
      run.result = result;
      if (run.waiters === 0) release(result);
    }, end);
    return run;
  }

  /** Runs the statement, or waits with others for the same result. */
  async function join(asked: Turn): Promise<Result> {
    const run = (!asked.isRenewed && running.get(runKeyOf(asked))) || start(asked);
    try {
      return await wait(run, asked);
    } catch (error) {
      const isOfStarter = run.sharer !== asked.sharer && OF_SHARER.has((error as { code?: unknown }).code);
      if (!isOfStarter || asked.signal.aborted) throw error;
      const own = running.get(runKeyOf(asked));
      return wait(own?.sharer === asked.sharer ? own : start(asked), asked);
    }
  }

  /** The query ends if all who wait for it leave. */
  async function wait(run: RunningQuery, asked: ResultRequest): Promise<Result> {
    run.waiters++;
    try {
      const result = await orAborted(run.outcome, asked.signal);
      if (!isKept(result)) result.rows.hold();
      return result;
    } finally {
      if (--run.waiters === 0) {
        run.controller.abort(new Error('nobody waits for the answer'));
        if (run.result) release(run.result);
      }
    }
  }

  /** The turn of a caller who has left ends when the engine has ended what the caller started. */
  const inTurn = (asked: ResultRequest) =>
    new Promise<Result>((resolve, reject) => {
      const started: Promise<void>[] = [];
      const work = async () => {
        try {
          resolve(known(asked) ?? (await join({ ...asked, started })));
        } catch (error) {
          reject(error);
        }
        await Promise.all(started);
      };
      admission.take({ key: asked.sharer, places: asked.atOnce, signal: asked.signal }, work).catch(reject);
    });

  return {
    known: cache.find,
    find: async (asked) => known(asked) ?? inTurn(asked),
    countUnread(sharer, bytes) {
      const share = unread.reservationOf(sharer);
      if (!share.take(bytes)) throw tooManyUnread(share.excessOf(bytes));
      return share;
    },
  };
}

export const isKept = (result: { rows: Buffer | StoredText }): result is CachedResult =>
  Buffer.isBuffer(result.rows);

export function release(result: Result) {
  if (!isKept(result)) result.rows.release();
}

const tooLarge = () =>
  new ApiError('result_too_large', {
    message: 'One of several queries has a very large answer: send it alone.',
  });

const tooManyUnread = (excess: Excess) =>
  notNow(
    excess,
    excess === 'sharer'
      ? 'Too many of your answers wait until you have read them. Read them, and try again.'
      : 'Too many answers wait until their callers have read them. Try again later.',
    5,
  );

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
