/** Compiles the Vega-Lite specifications of reports in threads, so that a large or malicious one delays nobody. */
import {
  createThreads,
  ThreadLimitReached,
  type ThreadLimits,
  threadScript,
} from '../../platform/threads.ts';

export interface ChartTask {
  spec: object;
}

export type ChartAnswer =
  | { vega: object; problem?: undefined }
  | { problem: { path: string; message: string } };

export const CHART_LIMITS: ThreadLimits = { timeMs: 10_000, memoryMb: 512 };

export interface Charts {
  /** Answers in the order of the tasks, or says why all of them together are too much. */
  compile(tasks: ChartTask[], signal: AbortSignal): Promise<ChartAnswer[]>;
  stop(): Promise<void>;
}

export function createCharts(limits: ThreadLimits = CHART_LIMITS): Charts {
  const threads = createThreads<ChartTask[], ChartAnswer[]>(threadScript('chart-thread'), limits);
  return {
    async compile(tasks, signal) {
      if (!tasks.length) return [];
      try {
        return await threads.run(tasks, signal);
      } catch (error) {
        if (!(error instanceof ThreadLimitReached)) throw error;
        const message = 'takes too much time or memory to compile';
        return tasks.map(() => ({ problem: { path: '', message } }));
      }
    },
    stop: threads.stop,
  };
}
