/**
 * The files of the demo's deployment. Every server makes them for itself before it first reads them, and again in each hour,
 * so that the data of the demo always ends with the last full hour: today, and not later than now.
 */
import type { Engines } from '../../engines/engines.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Logger } from '../../platform/log.ts';
import { isDemo } from './store.ts';

export type PrepareFiles = (db: Queryable, deploymentId: number) => Promise<void>;

interface Options {
  engines: Pick<Engines, 'makeDemoFiles'>;
  log: Logger;
  /** For tests. */
  now?: () => number;
}

const HOUR_MS = 3_600_000;
const RETRY_MS = 60_000;

/** Does nothing for other deployments, whose files are put there by others. */
export function createDemoFiles({ engines, log, now = Date.now }: Options): PrepareFiles {
  const byDeployment = new Map<number, PrepareFiles>();

  function prepareOne(): PrepareFiles {
    /** Resolves to whether this is the demo, once its files are there. That never changes for a deployment. */
    let made: Promise<boolean> | undefined;
    let madeUntil: string | undefined;
    let renewAfterMs = 0;

    async function make(db: Queryable, deploymentId: number, until: string): Promise<boolean> {
      const isIt = await isDemo(db, deploymentId);
      if (isIt) await engines.makeDemoFiles(deploymentId, until);
      return isIt;
    }

    /** Renews the files in the background: until they are ready, the data ends earlier. */
    function renew(deploymentId: number, until: string) {
      const before = madeUntil;
      madeUntil = until;
      engines.makeDemoFiles(deploymentId, until).catch((error) => {
        log.warn({ err: error }, 'the data of the demo could not be renewed');
        madeUntil = before;
        renewAfterMs = now() + RETRY_MS;
      });
    }

    return async (db, deploymentId) => {
      const until = new Date(now() - (now() % HOUR_MS)).toISOString();
      if (!made) {
        madeUntil = until;
        made = make(db, deploymentId, until);
      }
      const isIt = await made.catch((error) => {
        made = undefined;
        throw error;
      });
      if (isIt && madeUntil !== until && now() >= renewAfterMs) renew(deploymentId, until);
    };
  }

  return (db, deploymentId) => {
    const known = byDeployment.get(deploymentId) ?? prepareOne();
    byDeployment.set(deploymentId, known);
    return known(db, deploymentId);
  };
}
