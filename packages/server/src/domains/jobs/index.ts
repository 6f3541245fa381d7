/** Shows the queue of `platform/jobs` to admins. */
import type { Module, Platform } from '../../platform/module.ts';
import { jobRoutes } from './routes.ts';

export const jobs = (platform: Platform): Module => ({ routes: jobRoutes(platform) });
