import type { FindCleanups } from '../../platform/cleanup.ts';
import type { DemoStep } from '../../platform/demo.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { DataModels } from '../data-models/index.ts';
import { demoDeployment } from './demo.ts';
import { createRemoveDeployment } from './removal.ts';
import { deploymentRoutes } from './routes.ts';

export { createRequireDeployment, type RequireDeployment } from './known-deployments.ts';
export {
  countAllDeployments,
  findDeployment,
  listExistingIds,
  lockDeployment,
  updateSource,
} from './store.ts';

export function deployments(
  platform: Platform,
  {
    cleanup,
    models,
    demo,
    version,
  }: {
    cleanup: FindCleanups;
    models: DataModels;
    demo(): readonly DemoStep[];
    /** The version of this server. */
    version: string;
  },
): Module {
  const removeDeployment = createRemoveDeployment(cleanup);
  return {
    routes: deploymentRoutes(platform, { removeDeployment, models, demo, version }),
    jobs: [removeDeployment],
    demo: demoDeployment,
  };
}
