import type { Module, Platform } from '../../platform/module.ts';
import { demoDeployment } from './demo.ts';
import type { KnownDeployments } from './known-deployments.ts';
import { removeDeployment } from './removal.ts';
import { deploymentRoutes } from './routes.ts';

export { createKnownDeployments, type RequireDeployment } from './known-deployments.ts';
export { countAllDeployments, findDeployment, listExistingIds } from './store.ts';

export const deployments = (
  platform: Platform,
  { knownDeployments }: { knownDeployments: KnownDeployments },
): Module => ({
  routes: deploymentRoutes(platform, knownDeployments),
  jobs: [removeDeployment],
  demo: demoDeployment,
});
