/** The data sources of deployments, with their engines. */
import { type DataSource, dataSourcesOf } from '../../engines/data-sources.ts';
import type { Engine } from '../../engines/engine.ts';
import type { EngineIdentity } from '../../engines/engine-identity.ts';
import type { Engines } from '../../engines/engines.ts';
import { createFileVersions } from '../../engines/file-versions.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import type { PrepareFiles } from '../data-sources/index.ts';
import type { EnvVars } from '../env-vars/index.ts';
import type { PersonalSource } from '../oauth-integrations/index.ts';
import { CONFIGS_SUBJECT, type EngineIdentities } from '../oidc-token-configs/index.ts';

export interface SourceOptions {
  engines: Engines;
  variables: EnvVars;
  identities: EngineIdentities;
  prepareFiles: PrepareFiles;
  dataDir: string;
  platform: Pick<Platform, 'createCache'>;
}

export interface OpenSource {
  readonly engine: Engine;
  type: DataSource['type'];
  /** Given if people ask it with their own access. */
  personal?: PersonalSource;
  /** Which source it is: changes if its settings change. */
  id: string;
  /** Changes if the data has changed, as far as that can be known without asking the source. */
  version(): string;
}

/** The same function as long as the variables are. Throws a 409 if they do not describe the source. */
export type FindSource = (name: string) => OpenSource;

export interface Sources {
  of(db: Queryable, deploymentId: number): Promise<FindSource>;
}

export function createSources({
  engines,
  variables,
  identities,
  prepareFiles,
  dataDir,
  platform,
}: SourceOptions): Sources {
  const cache = platform.createCache<number, FindSource>((id) => [`deployment:${id}`, CONFIGS_SUBJECT]);
  const versionOf = createFileVersions(dataDir);

  const open = (deploymentId: number, source: DataSource, identity?: EngineIdentity): OpenSource => {
    // The id becomes part of the keys of results, which hold no secret.
    const { password: _password, ...settings } = { password: '', ...source };
    return {
      engine: engines.of(deploymentId, source, identity),
      type: source.type,
      ...('oauth' in source && source.oauth && { personal: source as PersonalSource }),
      id: JSON.stringify([deploymentId, settings]),
      version: () => (source.type === 'duckdb' ? versionOf(deploymentId) : ''),
    };
  };

  const read = async (db: Queryable, deploymentId: number): Promise<FindSource> => {
    const given = await variables.readEnvVars(db, deploymentId);
    const { sources, problems } = dataSourcesOf(Object.fromEntries(given));
    const identity = await identities.of(db, deploymentId, given);
    const opened = new Map(
      [...sources].map(([name, source]) => [name, open(deploymentId, source, identity)]),
    );
    return (name) => {
      const source = opened.get(name.toLowerCase());
      if (!source) throw notConfigured(name, problems);
      return source;
    };
  };

  return {
    async of(db, deploymentId) {
      const source =
        cache.get(deploymentId) ?? (await cache.load(deploymentId, () => read(db, deploymentId)));
      await prepareFiles(db, deploymentId);
      return source;
    },
  };
}

function notConfigured(name: string, problems: ReturnType<typeof dataSourcesOf>['problems']) {
  const own = problems.filter((problem) => problem.source === name.toLowerCase());
  const why = own.length
    ? own.map(({ variable, message }) => `${variable} ${message}`).join('; ')
    : 'no variable of the deployment describes it';
  return new ApiError('source_not_configured', {
    message: `The data source \`${name}\` cannot be used: ${why}.`,
  });
}
