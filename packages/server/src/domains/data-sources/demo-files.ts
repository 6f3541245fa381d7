/**
 * The files of the demo's deployment. Every server makes them for itself before it first reads them, and again on each day,
 * so that the data of the demo always ends today.
 */
import type { Engines } from '../../engines/engines.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Logger } from '../../platform/log.ts';
import { hasDemo } from './store.ts';

export type PrepareFiles = (db: Queryable, deploymentId: number) => Promise<void>;

interface Options {
  engines: Pick<Engines, 'makeDemoFiles'>;
  log: Logger;
  /** For tests. */
  now?: () => number;
}

const DEMO_DEPLOYMENT_ID = 1;
const RETRY_MS = 60_000;

/** Does nothing for other deployments, whose files are put there by others. */
export function createDemoFiles({ engines, log, now = Date.now }: Options): PrepareFiles {
  /** Whether there is a demo, once its files are there. */
  let made: Promise<boolean> | undefined;
  let day: string | undefined;
  let renewAfterMs = 0;

  async function make(db: Queryable, today: string): Promise<boolean> {
    const isDemo = await hasDemo(db);
    if (isDemo) await engines.makeDemoFiles(DEMO_DEPLOYMENT_ID, today);
    return isDemo;
  }

  /** Nobody waits for it: until then, the data ends yesterday. */
  function renew(today: string) {
    const before = day;
    day = today;
    engines.makeDemoFiles(DEMO_DEPLOYMENT_ID, today).catch((error) => {
      log.warn({ err: error }, 'the data of the demo could not be renewed');
      day = before;
      renewAfterMs = now() + RETRY_MS;
    });
  }

  return async (db, deploymentId) => {
    if (deploymentId !== DEMO_DEPLOYMENT_ID) return;
    const today = new Date(now()).toISOString().slice(0, 10);
    if (!made) {
      day = today;
      made = make(db, today);
    }
    const isDemo = await made.catch((error) => {
      made = undefined;
      throw error;
    });
    if (isDemo && day !== today && now() >= renewAfterMs) renew(today);
  };
}
