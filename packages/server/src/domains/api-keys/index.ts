import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import { createApiKeyCredential } from './credential.ts';
import { apiKeyRoutes } from './routes.ts';

export { generateApiKey, hashApiKey, looksLikeApiKey } from './secret.ts';
export { insertApiKey } from './store.ts';

export const apiKeys = (platform: Platform): Module => {
  const { kind, stop } = createApiKeyCredential(platform);
  return { routes: apiKeyRoutes(platform), credentials: [kind], cleanup, stop };
};
