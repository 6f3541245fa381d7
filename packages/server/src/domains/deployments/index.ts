export { demoDeployment } from './demo.ts';
export { deploymentCheck, type KnownDeployments } from './known-deployments.ts';
export { removeDeployment } from './remove-deployment.ts';
export { deploymentRoutes } from './routes.ts';
export { countAllDeployments, findDeployment, listExistingIds } from './store.ts';
