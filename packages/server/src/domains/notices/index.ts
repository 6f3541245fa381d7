import type { Module, Platform } from '../../platform/module.ts';
import { type NoticeSettings, noticeRoutes } from './routes.ts';

export const notices = (platform: Platform, settings: NoticeSettings): Module => ({
  routes: noticeRoutes(platform, settings),
});
