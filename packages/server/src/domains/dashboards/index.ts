import type { Module, Platform } from '../../platform/module.ts';
import type { Queries } from '../queries/index.ts';
import type { Charts } from './charts.ts';
import { cleanup } from './cleanup.store.ts';
import { createPython } from './python.ts';
import { createPythonRuns } from './python-runs.ts';
import type { Rechecks } from './rechecks.ts';
import { dashboardRoutes } from './routes.ts';

export { type Charts, createCharts } from './charts.ts';
export {
  createFindPublished,
  createPublishedDashboards,
  createReadPublished,
  type PublishedDashboard,
  type PublishedDashboards,
  type PublishedVersion,
  type ReadPublished,
  requireDashboard,
} from './dashboards.ts';
export { DEMO_DASHBOARDS, demoDashboards } from './demo.ts';
export { createRechecks, type Rechecks } from './rechecks.ts';

export const dashboards = (
  { log, keysFor }: Pick<Platform, 'log' | 'keysFor'>,
  charts: Charts,
  rechecks: Rechecks,
  queries: Pick<Queries, 'load' | 'loadSql' | 'members' | 'check' | 'viewer'>,
): Module => ({
  routes: dashboardRoutes(
    charts,
    createPythonRuns(createPython({ log }), queries),
    rechecks,
    queries,
    keysFor('dashboard previews'),
  ),
  cleanup,
  stop: charts.stop,
});
