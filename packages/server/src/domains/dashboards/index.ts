import type { Module } from '../../platform/module.ts';
import type { Charts } from './charts.ts';
import { leftovers } from './leftovers.store.ts';
import { dashboardRoutes } from './routes.ts';

export { type Charts, createCharts } from './charts.ts';
export { findPublishedOf, requireDashboard } from './dashboards.ts';
export { DEMO_DASHBOARDS, demoDashboards } from './demo.ts';

export const dashboards = (charts: Charts): Module => ({
  routes: dashboardRoutes(charts),
  leftovers,
  stop: charts.stop,
});
