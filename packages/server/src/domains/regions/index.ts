export { regionRoutes } from './routes.ts';
export { LOCAL_REGION, requireRegion } from './rules.ts';
