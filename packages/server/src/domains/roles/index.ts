import type { Module, Platform } from '../../platform/module.ts';
import { roleRoutes } from './routes.ts';

export const roles = (platform: Platform): Module => ({ routes: roleRoutes(platform) });
