/** Stops the database that a killed server left running. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '../../log.ts';
import { type StopStep, takeSteps } from '../../processes/stop-steps.ts';
import { StartupError } from '../../startup-error.ts';
import { inUse, takesLock } from './claim.ts';
import { type Cluster, isAlive } from './cluster.ts';
import { connect } from './connect.ts';

const STARTS_WITHIN_MS = 60_000;

/** PostgreSQL's fast shutdown, and then its immediate shutdown, after which it recovers at the next start. */
export const STOP_STEPS: StopStep[] = [
  { by: 'SIGINT', withinMs: 20_000 },
  { by: 'SIGQUIT', withinMs: 20_000 },
];

/** Rejects with a StartupError if the database belongs to a running server. */
export async function stopOrphan(cluster: Cluster, log: Logger) {
  const client = await connectToOrphan(cluster);
  if (!client) return;
  try {
    // The lock is held until the database has ended, so that a server that has just started it sees that it is in use.
    if (!(await takesLock(client))) throw inUse(cluster);
    const pid = Number((await readFile(join(cluster.pgData, 'postmaster.pid'), 'utf8')).split('\n')[0]);
    log.warn({ pid }, 'stopping the database of a server that was killed');
    await takeSteps(STOP_STEPS, {
      isRunning: () => isAlive(pid),
      take: (by) => process.kill(pid, by),
    });
  } catch (error) {
    if (error instanceof StartupError) throw error;
    // The database has already ended.
  } finally {
    await client.end().catch(() => {});
  }
}

/** Returns nothing if no database listens. Waits for a database that is still starting or recovering. */
async function connectToOrphan(cluster: Cluster): Promise<pg.Client | undefined> {
  for (const deadline = Date.now() + STARTS_WITHIN_MS; ; await sleep(100)) {
    try {
      return await connect(cluster);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code !== '57P03' || Date.now() > deadline) return undefined;
    }
  }
}
