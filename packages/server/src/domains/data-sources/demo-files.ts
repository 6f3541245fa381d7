/** The files of the demo's deployment. Every server makes them for itself, before it first reads them. */
import type { Engines } from '../../engines/engines.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { hasDemo } from './store.ts';

export type PrepareFiles = (db: Queryable, deploymentId: number) => Promise<void>;

const DEMO_DEPLOYMENT_ID = 1;

/** Does nothing for other deployments, whose files are put there by others. */
export function createDemoFiles({ makeDemoFiles }: Pick<Engines, 'makeDemoFiles'>): PrepareFiles {
  let made: Promise<void> | undefined;
  return async (db, deploymentId) => {
    if (deploymentId !== DEMO_DEPLOYMENT_ID) return;
    made ??= (async () => {
      if (await hasDemo(db)) await makeDemoFiles(deploymentId);
    })();
    await made.catch((error) => {
      made = undefined;
      throw error;
    });
  };
}
