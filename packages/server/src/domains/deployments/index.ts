export { demoDeployment } from './demo.ts';
export { deploymentRoutes } from './routes.ts';
export { countAllDeployments, listExistingIds } from './store.ts';
