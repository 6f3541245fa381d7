import type { Module, Platform } from '../../platform/module.ts';
import { type EmbedSessionOptions, embedSessionRoutes } from './routes.ts';
import { embedSessionUpkeep } from './upkeep.ts';

export const embedSessions = (platform: Platform, options: EmbedSessionOptions): Module => ({
  routes: embedSessionRoutes(platform, options),
  schedules: [embedSessionUpkeep],
});
