/**
 * The files of the demo's deployment. Every server makes them for itself before it first reads them, and again on each day,
 * so that the data of the demo always ends today.
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

const RETRY_MS = 60_000;

/** Does nothing for other deployments, whose files are put there by others. */
export function createDemoFiles({ engines, log, now = Date.now }: Options): PrepareFiles {
  const byDeployment = new Map<number, PrepareFiles>();

  function prepareOne(): PrepareFiles {
    /** Whether it is the demo, once its files are there. A deployment is so from its beginning. */
    let made: Promise<boolean> | undefined;
    let day: string | undefined;
    let renewAfterMs = 0;

    async function make(db: Queryable, deploymentId: number, today: string): Promise<boolean> {
      const isIt = await isDemo(db, deploymentId);
      if (isIt) await engines.makeDemoFiles(deploymentId, today);
      return isIt;
    }

    /** Nobody waits for it: until then, the data ends yesterday. */
    function renew(deploymentId: number, today: string) {
      const before = day;
      day = today;
      engines.makeDemoFiles(deploymentId, today).catch((error) => {
        log.warn({ err: error }, 'the data of the demo could not be renewed');
        day = before;
        renewAfterMs = now() + RETRY_MS;
      });
    }

    return async (db, deploymentId) => {
      const today = new Date(now()).toISOString().slice(0, 10);
      if (!made) {
        day = today;
        made = make(db, deploymentId, today);
      }
      const isIt = await made.catch((error) => {
        made = undefined;
        throw error;
      });
      if (isIt && day !== today && now() >= renewAfterMs) renew(deploymentId, today);
    };
  }

  return (db, deploymentId) => {
    const known = byDeployment.get(deploymentId) ?? prepareOne();
    byDeployment.set(deploymentId, known);
    return known(db, deploymentId);
  };
}
