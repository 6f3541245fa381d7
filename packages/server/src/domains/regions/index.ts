import type { Module, Platform } from '../../platform/module.ts';
import { regionRoutes } from './routes.ts';

export { LOCAL_REGION, requireRegion } from './rules.ts';

export const regions = (platform: Platform): Module => ({ routes: regionRoutes(platform) });
