/** Each process of the server reports that it runs, so that people see which processes there are. */
import type { Database } from '../db/database.ts';
import type { Logger } from '../log.ts';
import * as store from './store.ts';

const REPORT_EVERY_MS = 10_000;
/** A process that misses three reports does not run well, and one that is silent for long is gone. */
export const SEEN: store.PresenceTimes = { readyMs: 3 * REPORT_EVERY_MS, goneMs: 5 * 60_000 };

export interface Presence {
  /** Says farewell. */
  stop(): Promise<void>;
}

export async function startPresence(
  { essential, log }: { essential: Database; log: Logger },
  process: { name: string; type: 'web' | 'worker'; containers: string[] },
): Promise<Presence> {
  let reporting: Promise<unknown> = store.upsertStarted(essential, process);
  await reporting;
  const report = async () => {
    try {
      await store.upsertSeen(essential, process);
      await store.deleteGone(essential, SEEN.goneMs);
    } catch (error) {
      log.warn({ err: error }, 'this process could not report that it runs');
    }
  };
  const timer = setInterval(() => {
    reporting = report();
  }, REPORT_EVERY_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      await reporting;
      try {
        await store.deleteProcess(essential, process.name);
      } catch (error) {
        // The other processes see soon that this one does not report any more.
        log.warn({ err: error }, 'this process could not report that it stops');
      }
    },
  };
}
