/**
 * Throttles long jobs in favour of requests. The server tells this process how busy it is with requests. While it is
 * busy, a job that asks here between two steps pauses several times as long as this process has worked since. A
 * priority would not be enough: Linux lets a running thread finish its time slice first.
 */
import { setTimeout as sleep } from 'node:timers/promises';

/** Jobs are throttled only if requests take more than this share of the server's time. */
const QUIET = 0.1;
/** While the server has no time left, a job pauses so many times as long as it has worked. */
const PAUSES_MAX = 16;
const PAUSE_MAX_MS = 5000;
/** About how many processors a step keeps busy. What this process uses beyond that is the work of other jobs. */
const PROCESSORS = 2;
/** How long a report of the server counts. */
const HEARD_MS = 10_000;

interface Clock {
  now(): number;
  /** The processor time that this process has used, with all of its threads. */
  workedMs(): number;
}

const CLOCK: Clock = {
  now: () => performance.now(),
  workedMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
};

export function createPace({ now, workedMs }: Clock = CLOCK) {
  let busy = 0;
  let heardAt = Number.NEGATIVE_INFINITY;
  let counted = workedMs();
  let freeAt = now();

  return {
    /** Takes a report of the server: the share of its time that it works on requests. */
    hear(share: number) {
      busy = share;
      heardAt = now();
    },
    /** How long to wait before the next step. All steps of this process share the same time. */
    pauseMs(): number {
      const at = now();
      const worked = workedMs();
      const isHeard = at - heardAt < HEARD_MS;
      const pauses = isHeard ? (PAUSES_MAX * Math.max(0, busy - QUIET)) / (1 - QUIET) : 0;
      // What other jobs do during a pause does not make the next one longer: then a run would never end beside them.
      const since = Math.max(0, at - freeAt);
      const own = Math.min(worked - counted, PROCESSORS * since);
      freeAt = Math.min(Math.max(freeAt, at) + pauses * own, at + PAUSE_MAX_MS);
      counted = worked;
      return freeAt - at;
    },
  };
}

/** The pace of this process. Without a server that tells how busy it is, there are no pauses. */
export const pace = createPace();

export async function throttle(signal: AbortSignal): Promise<void> {
  const ms = pace.pauseMs();
  if (ms > 0) await sleep(ms, undefined, { signal });
}
