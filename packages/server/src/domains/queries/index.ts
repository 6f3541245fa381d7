import type { Engines } from '../../engines/engines.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { Compiler } from '../builds/index.ts';
import type { EnvVars } from '../env-vars/index.ts';
import type { SourceAccess } from '../oauth-integrations/index.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import { createMetaCache } from './meta-cache.ts';
import { createModels } from './models.ts';
import { createPlanCache } from './plan-cache.ts';
import { createPlanner } from './planner.ts';
import { createQueries, type Queries } from './queries.ts';
import { createResults } from './results.ts';
import { queryRoutes } from './routes.ts';
import { createSources, type SourceOptions } from './sources.ts';
import { createSqlParser } from './sql-parser.ts';
import { createViewers } from './viewers.ts';

export type {
  Fingerprints,
  ModelMembers,
  Queries,
  QueryOrSql,
} from './queries.ts';
export { type QueryCall, type QueryWatch, queryIn } from './query-calls.ts';

export interface QueryOptions extends Pick<SourceOptions, 'dataDir' | 'prepareFiles' | 'identities'> {
  engines: Engines;
  compiler: Compiler;
  variables: EnvVars;
  tenantSettings: TenantSettings;
  sourceAccess: SourceAccess;
  /** How long a statement of an embed viewer may run. */
  embedQueryMs: number;
}

export function createQueryApi(platform: Platform, options: QueryOptions) {
  const parser = createSqlParser();
  const planner = createPlanner();
  const models = createModels(platform, options.compiler);
  const api = createQueries({
    models,
    sources: createSources({ ...options, platform }),
    viewers: createViewers(platform, options.tenantSettings),
    planner,
    plans: createPlanCache(planner),
    meta: createMetaCache(),
    results: createResults(options.dataDir),
    parser,
    tenantSettings: options.tenantSettings,
    sourceAccess: options.sourceAccess,
    embedQueryMs: options.embedQueryMs,
  });
  return {
    ...api,
    started: models.start,
    async stop() {
      await Promise.all([parser.stop(), planner.stop(), models.stop()]);
    },
  };
}

export const queries = (
  { started, ...api }: Queries & Pick<Module, 'started' | 'stop'>,
  engines: Engines,
): Module => ({
  routes: queryRoutes(api),
  started() {
    started?.();
    engines.look();
  },
  async stop() {
    await api.stop?.();
    await engines.stop();
  },
});
