import type { Module, Platform } from '../../platform/module.ts';
import type { Queries } from '../queries/index.ts';
import type { Charts } from './charts.ts';
import { cleanup } from './cleanup.store.ts';
import { createPresence } from './presence.ts';
import { createPython } from './python.ts';
import { createPythonRuns } from './python-runs.ts';
import type { Rechecks } from './rechecks.ts';
import { dashboardRoutes } from './routes.ts';

export { type Charts, createCharts } from './charts.ts';
export {
  createPublishedDashboards,
  type PublishedDashboard,
  type PublishedDashboards,
  type PublishedVersion,
  type ReadPublished,
  requireDashboard,
} from './dashboards.ts';
export { DEMO_DASHBOARDS, demoDashboards } from './demo.ts';
export { createRechecks, type Rechecks } from './rechecks.ts';

export const dashboards = (
  { log, keysFor, listener, db }: Pick<Platform, 'log' | 'keysFor' | 'listener' | 'db'>,
  charts: Charts,
  rechecks: Rechecks,
  queries: Pick<Queries, 'load' | 'loadSql' | 'members' | 'check' | 'viewer' | 'explain' | 'explainAccess'>,
): Module => {
  const presence = createPresence({ db, listener, log });
  return {
    routes: dashboardRoutes(
      charts,
      createPythonRuns(createPython({ log }), queries),
      rechecks,
      queries,
      keysFor('dashboard previews'),
      presence,
    ),
    cleanup,
    async stop() {
      presence.stop();
      await charts.stop();
    },
  };
};
