export { demoGroups } from './demo.ts';
export { userGroupRoutes } from './routes.ts';
