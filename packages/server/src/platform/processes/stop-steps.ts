/** Ends a process step by step. Each step is more forceful than the one before. */
import { setTimeout as sleep } from 'node:timers/promises';

export interface StopStep {
  /** `request` asks through the pipe. */
  by: 'request' | NodeJS.Signals;
  /** How long to wait before the next step. */
  withinMs: number;
}

export const STOP_STEPS: StopStep[] = [
  { by: 'request', withinMs: 20_000 },
  { by: 'SIGTERM', withinMs: 5000 },
  { by: 'SIGKILL', withinMs: 5000 },
];

const LOOK_EVERY_MS = 20;

/** Takes steps until the process has ended. Returns whether it has. */
export async function takeSteps(
  steps: StopStep[],
  process: { isRunning(): boolean; take(by: StopStep['by']): void },
): Promise<boolean> {
  for (const { by, withinMs } of steps) {
    if (!process.isRunning()) return true;
    process.take(by);
    const deadline = performance.now() + withinMs;
    while (process.isRunning() && performance.now() < deadline) await sleep(LOOK_EVERY_MS);
  }
  return !process.isRunning();
}
