/**
 * Runs statements, and keeps their results. Equal statements run once at a time. Each embed tenant, each user and each
 * deployment's tokens have a number of statements at once, and the others of them wait.
 */
import type { Answer, Column } from '../../engines/engine.ts';
import { ApiError } from '../../platform/errors.ts';
import { createTurns } from '../../platform/turns.ts';
import { createKeptResults, type KeptResult } from './kept-results.ts';

export interface Asked {
  /** Everything that the result depends on. Two viewers share a result only if it is the same for both. */
  key: string;
  /** An older result is not used. */
  maxAgeMs: number;
  /** Whether to run it even if a result is known. */
  isRenewed: boolean;
  /** Who shares the statements at once. */
  sharer: string;
  /** Whether a result that is too large to be kept is sent while it is read. Otherwise it is an error. */
  mayStream: boolean;
  signal: AbortSignal;
  run(signal: AbortSignal): Promise<Answer>;
}

/** A result that is too large to be kept. */
export interface StreamedResult {
  readonly columns: readonly Column[];
  readonly rows: AsyncIterable<Buffer>;
  readonly isCapped: Promise<boolean>;
  readonly at: Date;
}

export type Result = KeptResult | StreamedResult;

export interface Results {
  /** A result that is kept and not older than this. */
  known(key: string, maxAgeMs: number): KeptResult | undefined;
  find(asked: Asked): Promise<Result>;
}

export interface ResultLimits {
  keptBytes: number;
  /** A larger result is not kept. */
  resultBytes: number;
  /** Fewer than a data source runs at once, so that nobody keeps all others waiting. */
  atOnce: number;
  waiting: number;
  waitMs: number;
}

const LIMITS: ResultLimits = {
  keptBytes: 64 * 1024 * 1024,
  resultBytes: 4 * 1024 * 1024,
  atOnce: 3,
  waiting: 200,
  waitMs: 60_000,
};

interface Running {
  /** Ends the query. */
  controller: AbortController;
  waiters: number;
  outcome: Promise<KeptResult | Large>;
  /** Somebody reads the large result. */
  isTaken: boolean;
}

/** The beginning of a result that is too large to be kept, and the rest of it. Only one can read it. */
interface Large {
  answer: Answer;
  pieces: Buffer[];
  rest: AsyncIterator<Buffer>;
  at: Date;
}

export function createResults(given: Partial<ResultLimits> = {}): Results {
  const limits = { ...LIMITS, ...given };
  const kept = createKeptResults(limits.keptBytes);
  const running = new Map<string, Running>();
  const turns = createTurns({
    togetherMax: limits.atOnce,
    waitingMax: limits.waiting,
    waitMs: limits.waitMs,
    busy: () => new ApiError('too_many_queries', { retryAfterSeconds: 1 }),
  });

  const known = ({ key, maxAgeMs, isRenewed }: Asked) => (isRenewed ? undefined : kept.find(key, maxAgeMs));

  async function gather(asked: Asked, signal: AbortSignal): Promise<KeptResult | Large> {
    const at = new Date();
    const answer = await asked.run(signal);
    const rest = answer.rows[Symbol.asyncIterator]();
    const pieces: Buffer[] = [];
    let bytes = 0;
    for (let step = await rest.next(); !step.done; step = await rest.next()) {
      pieces.push(step.value);
      bytes += step.value.length;
      if (bytes > limits.resultBytes) return { answer, pieces, rest, at };
    }
    const { isCapped } = await answer.summary;
    const result = { columns: answer.columns, rows: Buffer.concat(pieces), isCapped, at };
    kept.add(asked.key, result);
    return result;
  }

  function start(asked: Asked): Running {
    const controller = new AbortController();
    const run: Running = {
      controller,
      waiters: 0,
      outcome: gather(asked, controller.signal),
      isTaken: false,
    };
    running.set(asked.key, run);
    const end = () => {
      if (running.get(asked.key) === run) running.delete(asked.key);
    };
    run.outcome.then(end, end);
    return run;
  }

  /** Waits with others for the same result. The query ends if all of them leave. */
  async function join(asked: Asked): Promise<KeptResult | StreamedResult | undefined> {
    const run = (!asked.isRenewed && running.get(asked.key)) || start(asked);
    run.waiters++;
    try {
      const outcome = await orAborted(run.outcome, asked.signal);
      if (!('answer' in outcome)) return outcome;
      if (!asked.mayStream) {
        throw new ApiError('result_too_large', {
          message: 'One of several queries has a very large answer: send it alone.',
        });
      }
      if (run.isTaken) return undefined;
      run.isTaken = true;
      asked.signal.addEventListener('abort', () => run.controller.abort(asked.signal.reason), { once: true });
      return streamed(outcome);
    } finally {
      if (--run.waiters === 0 && !run.isTaken) run.controller.abort(new Error('nobody waits for the answer'));
    }
  }

  /** Ends when the result was read. */
  async function inTurn(asked: Asked, give: (result: Result) => void) {
    const result = known(asked) ?? (await join(asked)) ?? (await alone(asked));
    if (Buffer.isBuffer(result.rows)) return give(result);
    const read = whenRead(result as StreamedResult, asked.signal);
    give(read.result);
    await read.end;
  }

  return {
    known: kept.find,
    find(asked) {
      const result = known(asked);
      if (result) return Promise.resolve(result);
      return new Promise((resolve, reject) => {
        turns.together(asked.sharer, () => inTurn(asked, resolve), asked.signal).catch(reject);
      });
    },
  };
}

/** For a large result that somebody else reads already. */
async function alone({ run, signal }: Asked): Promise<StreamedResult> {
  const at = new Date();
  const { columns, rows, summary } = await run(signal);
  return { columns, rows, isCapped: summary.then(({ isCapped }) => isCapped), at };
}

function streamed({ answer, pieces, rest, at }: Large): StreamedResult {
  async function* rows() {
    try {
      for (let piece = pieces.shift(); piece; piece = pieces.shift()) yield piece;
      for (let step = await rest.next(); !step.done; step = await rest.next()) yield step.value;
    } finally {
      await rest.return?.();
    }
  }
  const { columns, summary } = answer;
  return { columns, rows: rows(), isCapped: summary.then(({ isCapped }) => isCapped), at };
}

/** `end` resolves when all rows were read, or nobody reads them any more. */
function whenRead(result: StreamedResult, signal: AbortSignal) {
  let finish = () => {};
  const end = new Promise<void>((resolve) => {
    finish = resolve;
  });
  if (signal.aborted) finish();
  signal.addEventListener('abort', finish, { once: true });
  async function* rows() {
    try {
      yield* result.rows;
    } finally {
      signal.removeEventListener('abort', finish);
      finish();
    }
  }
  // A reader learns of a failure from the rows.
  result.isCapped.catch(() => {});
  return { end, result: { ...result, rows: rows() } };
}

function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
