import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import type { DeploymentLog } from './log.ts';
import { logRoutes } from './routes.ts';

export { createDeploymentLog, type DeploymentLog, type LogLine } from './log.ts';

export const deploymentLogs = (platform: Platform, log: DeploymentLog): Module => ({
  routes: logRoutes(platform),
  cleanup,
  stop: log.stop,
});
