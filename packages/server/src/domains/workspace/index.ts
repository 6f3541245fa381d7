export { demoContent } from './demo.ts';
export { workspaceRoutes } from './routes.ts';
