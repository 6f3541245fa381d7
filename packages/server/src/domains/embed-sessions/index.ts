export { embedSessionRoutes } from './routes.ts';
export { embedSessionUpkeep } from './upkeep.ts';
