import type { Engines } from '../../engines/engines.ts';
import type { Module } from '../../platform/module.ts';
import type { BranchLock, EnqueueBuild } from '../data-models/index.ts';
import type { EnvVars } from '../env-vars/index.ts';
import type { SourceAccess } from '../oauth-integrations/index.ts';
import type { EngineIdentities } from '../oidc-token-configs/index.ts';
import { dataFileRoutes } from './data-files.ts';
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
  dataDir: string;
  dataFilesMb: number;
}

export const dataSources = ({
  engines,
  variables,
  identities,
  prepareFiles,
  sourceAccess,
  dataDir,
  dataFilesMb,
  ...writing
}: DataSourcesOptions): Module => ({
  routes: [
    ...dataSourceRoutes(
      createDataSources({ engines, variables, identities, prepareFiles, sourceAccess }),
      writing,
    ),
    ...dataFileRoutes({ dataDir, bytesMax: dataFilesMb * 1024 ** 2, prepareFiles }),
  ],
});
