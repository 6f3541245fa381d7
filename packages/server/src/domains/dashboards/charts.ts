/** Compiles the Vega-Lite specifications of reports in threads, so that a large or malicious one delays nobody. */
import { createAdmission } from '../../platform/admission/admission.ts';
import { createThreads, ThreadLimitError, type ThreadLimits, threadScript } from '../../platform/threads.ts';
import type { MissingField } from './chart-problems.ts';

export interface ChartTask {
  /** The Vega-Lite specification. */
  spec: object;
  /** What it was compiled to earlier, if that shall be checked too. */
  stored?: object;
  /** The fields of its rows, if they are known. */
  given?: string[] | undefined;
}

export type ChartAnswer =
  | { vega: object; missing?: MissingField[]; problem?: undefined }
  | {
      problem: { path: string; message: string };
      /** The check did not finish, so a later one may answer differently. */
      isUnfinished?: true;
    };

export const CHART_LIMITS: ThreadLimits = { timeMs: 10_000, memoryMb: 512 };

/** Each thread uses a core and much memory, so few run at once, and one for each user or embed tenant. */
export const CHART_PLACES = {
  places: 2,
  sharerPlaces: 1,
  waitingMax: 40,
  sharerWaitingMax: 10,
  waitMs: 60_000,
};

export interface Charts {
  /**
   * Answers in the order of the tasks, or says why all of them together are too much. Rejects with a 503 if too many
   * wait; `sharer` names on whose behalf (see `sharerOf`).
   */
  compile(tasks: ChartTask[], sharer: string, signal: AbortSignal): Promise<ChartAnswer[]>;
  stop(): Promise<void>;
}

export function createCharts(limits: ThreadLimits = CHART_LIMITS): Charts {
  const threads = createThreads<ChartTask[], ChartAnswer[]>(threadScript('chart-thread'), limits);
  const places = createAdmission(CHART_PLACES);
  return {
    async compile(tasks, sharer, signal) {
      if (!tasks.length) return [];
      try {
        return await places.take({ sharer, signal }, () => threads.run(tasks, signal));
      } catch (error) {
        if (!(error instanceof ThreadLimitError)) throw error;
        const message = 'takes too much time or memory to compile';
        return tasks.map(() => ({ problem: { path: '', message }, isUnfinished: true }));
      }
    },
    stop: threads.stop,
  };
}
