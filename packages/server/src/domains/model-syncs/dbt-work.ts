/** Checks and converts the files of dbt in a thread, one at a time, because each needs much memory. */
import type { DbtConversion } from '@oriel/semantic';
import { ApiError } from '../../platform/errors.ts';
import {
  createThreads,
  ThreadLimitReached,
  type ThreadLimits,
  threadScript,
} from '../../platform/threads.ts';
import { createTurns } from '../../platform/turns.ts';
import type { Answer, Checked, CheckTask, ConvertTask, DbtTask } from './dbt-tasks.ts';

/** Says in words for people why nothing could be made of the files. */
export class DbtFailure extends Error {}

/** JSON of 64 MB takes about half of the memory, and a few seconds. */
const LIMITS: ThreadLimits = { timeMs: 30_000, memoryMb: 1024 };
const WORDS = {
  timeMs: `took more than ${LIMITS.timeMs / 1000} seconds of CPU time`,
  memoryMb: `needed more than ${LIMITS.memoryMb} MB of memory`,
};
const TURNS = { togetherMax: 1, waitingMax: 10, waitMs: 120_000 };

export interface DbtWork {
  /**
   * Reject with a `DbtFailure`, or with the reason of the signal if that is aborted. `load` makes the task when it is its
   * turn, so that only one holds the files in memory.
   */
  check(load: () => Promise<Omit<CheckTask, 'kind'>>, signal: AbortSignal): Promise<Checked>;
  convert(load: () => Promise<Omit<ConvertTask, 'kind'>>, signal: AbortSignal): Promise<DbtConversion>;
  stop(): Promise<void>;
}

export function createDbtWork(): DbtWork {
  // No thread stays: the memory of the largest project would stay with it.
  const threads = createThreads<DbtTask, Answer<DbtTask>>(threadScript('dbt-thread'), LIMITS, { idleMax: 0 });
  const turns = createTurns({ ...TURNS, busy: () => new ApiError('busy') });
  async function run<Task extends DbtTask>(load: () => Promise<Task>, signal: AbortSignal) {
    try {
      const answer = (await turns.alone(
        'all',
        async () => threads.run(await load(), signal),
        signal,
      )) as Answer<Task>;
      if ('problem' in answer) throw new DbtFailure(answer.problem);
      return answer.done;
    } catch (error) {
      if (!(error instanceof ThreadLimitReached)) throw error;
      throw new DbtFailure(`The files of dbt were too much: reading them ${WORDS[error.limit]}.`);
    }
  }
  return {
    check: (load, signal) => run<CheckTask>(async () => ({ kind: 'check', ...(await load()) }), signal),
    convert: (load, signal) => run<ConvertTask>(async () => ({ kind: 'convert', ...(await load()) }), signal),
    stop: threads.stop,
  };
}
