export { demoDeployment } from './demo.ts';
export { deploymentCheck, type KnownDeployments } from './known-deployments.ts';
export { deploymentRoutes } from './routes.ts';
export { countAllDeployments, findDeployment, listExistingIds } from './store.ts';
