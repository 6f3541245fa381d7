import type { Module, Platform } from '../../platform/module.ts';
import { appConfigRoutes } from './routes.ts';

export const appConfig = (_platform: Platform): Module => ({ routes: appConfigRoutes() });
