/**
 * Compiles the model of a deployment when it was built, so that no viewer waits for it. One at a time, so that it takes at
 * most one of the turns that queries have.
 */
import { CREDENTIALS_CHANNEL } from '../../platform/db/notified-cache.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';

export interface ModelWarmer {
  /** Until then, nothing is warmed: processes that only run jobs answer no queries. */
  start(): void;
  stop(): Promise<void>;
}

/** Further notices are dropped: their models are compiled when a query needs them. */
const WAITING_MAX = 1000;
const SUBJECT = /^deployment:(\d+)$/;

/** `warm` must do nothing if the model is the same as before: there are notices of other changes too. */
export function createModelWarmer(
  { listener, log }: Pick<Platform, 'listener' | 'log'>,
  warm: (deploymentId: number) => Promise<void>,
): ModelWarmer {
  const waiting = new Set<number>();
  let isOn = false;
  let running: Promise<void> | undefined;

  async function run() {
    for (const deploymentId of waiting) {
      waiting.delete(deploymentId);
      try {
        await warm(deploymentId);
      } catch (error) {
        // There is no build, or too many models wait: the next query reports it.
        if (!(error instanceof ApiError) && isOn)
          log.warn({ err: error, deploymentId }, 'could not warm a data model');
      }
    }
    running = undefined;
  }

  listener.on(CREDENTIALS_CHANNEL, (subject) => {
    const id = SUBJECT.exec(subject ?? '')?.[1];
    if (!isOn || id === undefined || waiting.size >= WAITING_MAX) return;
    waiting.add(Number(id));
    running ??= run();
  });

  return {
    start() {
      isOn = true;
    },
    async stop() {
      isOn = false;
      waiting.clear();
      await running;
    },
  };
}
