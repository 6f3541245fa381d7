/**
 * Merges and compares texts in a thread, because hostile texts take seconds, and large ones too. Small texts are done in
 * place, because that is faster than to ask a thread.
 */
import { createAdmission, notNow } from '../admission/admission.ts';
import { createThreads, ThreadLimitError, threadScript } from '../threads.ts';
import { answerTask, type TextAnswer, type TextTask } from './text-tasks.ts';
import { WorkLimitError } from './work.ts';

/** The work on texts that one request needs. */
export interface TextWork {
  /**
   * `load` makes the task, which holds about this many bytes of texts, when it is the turn of the request. Throws
   * `WorkLimitError` if the texts of the request are too many, or too hard to merge.
   */
  run<Task extends TextTask>(bytes: number, load: () => Promise<Task>): Promise<TextAnswer<Task>>;
}

export interface Texts {
  /** Runs what a request does. If its signal is aborted, its thread ends. */
  during<T>(request: TextRequest, work: (texts: TextWork) => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

export interface TextRequest {
  /** Each deployment uses one thread at a time. */
  deploymentId: number;
  signal: AbortSignal;
}

/** The bytes of a request that are merged in place, which takes a few milliseconds. */
const IN_PLACE_BYTES = 64 * 1024;
const IN_PLACE_STEPS = 200_000;

/**
 * A merge reads three versions of every file that both sides changed. A data model has up to 100 MB, and merges of
 * several bases read files more than once.
 */
const BYTES_MAX = 600 * 1024 * 1024;

/** Ordinary texts take about 3 steps for each byte. The others end after some seconds of the thread. */
const STEPS_MIN = 100_000_000;
export const STEPS_PER_BYTE = 4;

/** The limits of one task. The steps end it earlier; these limits are for what they do not count. */
const THREAD_LIMITS = { timeMs: 10_000, memoryMb: 512 };

/** Each request in a thread holds up to some hundred megabytes. */
const LIMITS = { places: 2, sharerPlaces: 1, waitingMax: 200, sharerWaitingMax: 20, waitMs: 60_000 };

export function createTexts(): Texts {
  const threads = createThreads<TextTask & { steps: number }, TextAnswer<TextTask>>(
    threadScript('text-thread'),
    THREAD_LIMITS,
  );
  const admission = createAdmission({
    ...LIMITS,
    refusal: (excess) => notNow(excess, 'Too many large merges and comparisons wait already: try again.'),
  });

  /** Holds the place until the request ends, because merged texts stay in memory until then. */
  function lazyTurn({ deploymentId, signal }: TextRequest) {
    let end: (() => void) | undefined;
    let begun: Promise<void> | undefined;
    const begin = () =>
      new Promise<void>((resolve, reject) => {
        const hold = () =>
          new Promise<void>((release) => {
            end = release;
            resolve();
          });
        admission.take({ sharer: String(deploymentId), signal }, hold).catch(reject);
      });
    return {
      begin() {
        begun ??= begin();
        return begun;
      },
      end: () => end?.(),
    };
  }

  return {
    async during(request, work) {
      const { signal } = request;
      const turn = lazyTurn(request);
      const left = { bytes: BYTES_MAX, bytesInPlace: IN_PLACE_BYTES, steps: STEPS_MIN };

      async function run<Task extends TextTask>(bytes: number, load: () => Promise<Task>) {
        signal.throwIfAborted();
        left.bytes -= bytes;
        left.bytesInPlace -= bytes;
        left.steps += bytes * STEPS_PER_BYTE;
        if (left.bytes < 0) throw new WorkLimitError();
        let task: Task | undefined;
        if (left.bytesInPlace >= 0) {
          task = await load();
          const answer = answerTask({ ...task, steps: IN_PLACE_STEPS });
          if (answer.steps > 0) return answer;
        }
        await turn.begin();
        task ??= await load();
        const answer = (await threads.run({ ...task, steps: left.steps }, signal)) as TextAnswer<Task>;
        left.steps = answer.steps;
        if (task.kind === 'merge' && !left.steps) throw new WorkLimitError();
        return answer;
      }

      try {
        return await work({ run });
      } catch (error) {
        throw error instanceof ThreadLimitError ? new WorkLimitError() : error;
      } finally {
        turn.end();
      }
    },
    stop: threads.stop,
  };
}

/** The limit of bytes in one task, because all of them are copied to the thread at once. */
const BATCH_BYTES = 8 * 1024 * 1024;

export interface Batch<Item> {
  items: Item[];
  bytes: number;
}

export function batchesBySize<Item>(items: readonly Item[], sizeOf: (item: Item) => number): Batch<Item>[] {
  const batches: Batch<Item>[] = [];
  for (const item of items) {
    const size = sizeOf(item);
    let last = batches.at(-1);
    if (!last || last.bytes + size > BATCH_BYTES) {
      last = { items: [], bytes: 0 };
      batches.push(last);
    }
    last.items.push(item);
    last.bytes += size;
  }
  return batches;
}
