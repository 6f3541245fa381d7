/** Checks and converts the files of dbt in a thread, one at a time, because each needs much memory. */
import type { DbtConversion } from '@oriel/semantic';
import { createAdmission } from '../../platform/admission/admission.ts';
import { createThreads, ThreadLimitError, type ThreadLimits, threadScript } from '../../platform/threads.ts';
import type { Answer, CheckedArtifacts, CheckTask, ConvertTask, DbtTask } from './dbt-tasks.ts';

/** Says in words for people why nothing could be made of the files. */
export class DbtError extends Error {}

/** JSON of 64 MB takes about half of the memory, and a few seconds. */
const LIMITS: ThreadLimits = { timeMs: 30_000, memoryMb: 1024 };
const WORDS = {
  timeMs: `took more than ${LIMITS.timeMs / 1000} seconds of CPU time`,
  memoryMb: `needed more than ${LIMITS.memoryMb} MB of memory`,
};
/**
 * One task at a time, round-robin between deployments, so that a deployment with many tasks does not delay the others.
 */
const PLACES = { places: 1, sharerPlaces: 1, waitingMax: 40, sharerWaitingMax: 4, waitMs: 120_000 };

/** The deployment that the files belong to. */
export interface DbtCaller {
  deploymentId: number;
  signal: AbortSignal;
}

export interface DbtWork {
  /**
   * Reject with a `DbtError`, or with the reason of the signal if that is aborted. `load` makes the task when it is its
   * turn, so that only one holds the files in memory.
   */
  check(load: () => Promise<Omit<CheckTask, 'kind'>>, caller: DbtCaller): Promise<CheckedArtifacts>;
  convert(load: () => Promise<Omit<ConvertTask, 'kind'>>, caller: DbtCaller): Promise<DbtConversion>;
  stop(): Promise<void>;
}

export function createDbtWork(): DbtWork {
  // No thread stays: the memory of the largest project would stay with it.
  const threads = createThreads<DbtTask, Answer<DbtTask>>(threadScript('dbt-thread'), LIMITS, { idleMax: 0 });
  const places = createAdmission(PLACES);
  async function run<Task extends DbtTask>(load: () => Promise<Task>, { deploymentId, signal }: DbtCaller) {
    try {
      const answer = (await places.take({ sharer: `deployment ${deploymentId}`, signal }, async () =>
        threads.run(await load(), signal),
      )) as Answer<Task>;
      if ('problem' in answer) throw new DbtError(answer.problem);
      return answer.done;
    } catch (error) {
      if (!(error instanceof ThreadLimitError)) throw error;
      throw new DbtError(`The files of dbt were too much: reading them ${WORDS[error.limit]}.`);
    }
  }
  return {
    check: (load, caller) => run<CheckTask>(async () => ({ kind: 'check', ...(await load()) }), caller),
    convert: (load, caller) => run<ConvertTask>(async () => ({ kind: 'convert', ...(await load()) }), caller),
    stop: threads.stop,
  };
}
