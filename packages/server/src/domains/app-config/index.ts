export { appConfigRoutes } from './routes.ts';
