import type { Engines } from '../../engines/engines.ts';
import type { Module } from '../../platform/module.ts';
import type { BranchLock, EnqueueBuild } from '../data-models/index.ts';
import type { EnvVars } from '../env-vars/index.ts';
import type { SourceAccess } from '../oauth-integrations/index.ts';
import type { EngineIdentities } from '../oidc-token-configs/index.ts';
import { createDataSources } from './data-sources.ts';
import type { PrepareFiles } from './demo-files.ts';
import { dataSourceRoutes } from './routes.ts';

export { createDemoFiles, type PrepareFiles } from './demo-files.ts';

export interface DataSourcesOptions {
  engines: Engines;
  variables: EnvVars;
  identities: EngineIdentities;
  prepareFiles: PrepareFiles;
  sourceAccess: SourceAccess;
  enqueueBuild: EnqueueBuild;
  branchTurns: BranchLock;
}

export const dataSources = ({
  engines,
  variables,
  identities,
  prepareFiles,
  sourceAccess,
  ...writing
}: DataSourcesOptions): Module => ({
  routes: dataSourceRoutes(
    createDataSources({ engines, variables, identities, prepareFiles, sourceAccess }),
    writing,
  ),
});
