export { apiKeyRoutes } from './routes.ts';
export { insertApiKey } from './store.ts';
