import { expirySchedule } from '../../platform/jobs/upkeep.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import { createEnvironmentCredential } from './credential.ts';
import { environmentRoutes } from './routes.ts';
import { deleteExpiredTokens } from './store.ts';

export const environmentTokenUpkeep = expirySchedule('environments.delete-expired-tokens', 23, [
  deleteExpiredTokens,
]);

export const environments = (platform: Platform): Module => ({
  routes: environmentRoutes(platform),
  schedules: [environmentTokenUpkeep],
  credentials: [createEnvironmentCredential(platform)],
  cleanup,
});
