import type { Module, Platform } from '../../platform/module.ts';
import { apiKeyRoutes } from './routes.ts';

export { insertApiKey } from './store.ts';

export const apiKeys = (platform: Platform): Module => ({ routes: apiKeyRoutes(platform) });
