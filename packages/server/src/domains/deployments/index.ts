import type { AskLeftovers } from '../../platform/leftovers.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { demoDeployment } from './demo.ts';
import type { KnownDeployments } from './known-deployments.ts';
import { createRemoveDeployment } from './removal.ts';
import { deploymentRoutes } from './routes.ts';

export { createKnownDeployments, type RequireDeployment } from './known-deployments.ts';
export { countAllDeployments, findDeployment, listExistingIds } from './store.ts';

export function deployments(
  platform: Platform,
  { knownDeployments, leftovers }: { knownDeployments: KnownDeployments; leftovers: AskLeftovers },
): Module {
  const removeDeployment = createRemoveDeployment(leftovers);
  return {
    routes: deploymentRoutes(platform, { knownDeployments, removeDeployment }),
    jobs: [removeDeployment],
    demo: demoDeployment,
  };
}
