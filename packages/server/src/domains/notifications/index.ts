import type { Module } from '../../platform/module.ts';
import { leftovers } from './leftovers.store.ts';
import { type NotificationOptions, notificationRoutes } from './routes.ts';

export { demoNotification } from './demo.ts';

export const notifications = (options: NotificationOptions): Module => ({
  routes: notificationRoutes(options),
  leftovers,
});
