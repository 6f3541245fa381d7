import type { Module, Platform } from '../../platform/module.ts';
import { demoGroups } from './demo.ts';
import { userGroupRoutes } from './routes.ts';

export const userGroups = (platform: Platform): Module => ({
  routes: userGroupRoutes(platform),
  demo: demoGroups,
});
