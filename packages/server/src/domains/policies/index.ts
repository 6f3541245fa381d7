import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import { policyRoutes } from './routes.ts';

export const policies = (_platform: Platform): Module => ({ routes: policyRoutes(), cleanup });
