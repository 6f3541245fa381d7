/**
 * Compiles the model of a deployment when it was built, so that no viewer waits for it. One at a time, so that it takes at
 * most one of the turns that queries have.
 */
import { CREDENTIALS_CHANNEL } from '../../platform/db/notified-cache.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';

export interface Warming {
  /** Until then, nothing is warmed: processes that only run jobs answer no queries. */
  start(): void;
  stop(): Promise<void>;
}

/** Notices of changes beyond these wait for nothing: their models are compiled when somebody asks. */
const WAITING_MAX = 1000;
const SUBJECT = /^deployment:(\d+)$/;

/** `warm` must do nothing if the model is the same as before: there are notices of other changes too. */
export function createWarming(
  { listener, log }: Pick<Platform, 'listener' | 'log'>,
  warm: (deploymentId: number) => Promise<void>,
): Warming {
  const waiting = new Set<number>();
  let isOn = false;
  let running: Promise<void> | undefined;

  async function run() {
    for (const deploymentId of waiting) {
      waiting.delete(deploymentId);
      try {
        await warm(deploymentId);
      } catch (error) {
        // Nothing was built, or others wait for too many models: whoever asks is told so.
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
