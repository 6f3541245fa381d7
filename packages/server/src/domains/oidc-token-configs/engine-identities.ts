/** Which tokens the engines of a deployment get. */
import type { EngineIdentity } from '../../engines/engine-identity.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Platform } from '../../platform/module.ts';
import { engineVariables, filesBeside, passedVariables } from './rules.ts';
import { listTokenConfigs, type TokenConfigRow } from './store.ts';
import { TOKEN_LIFE_SECONDS, type WorkloadTokens } from './tokens.ts';

export interface EngineIdentities {
  /** Undefined if no config is enabled. `variables` are those of the deployment. */
  of(
    db: Queryable,
    deploymentId: number,
    variables: ReadonlyMap<string, string | null>,
  ): Promise<EngineIdentity | undefined>;
}

/** How notifications name the configs. */
export const CONFIGS_SUBJECT = 'oidc-token-configs';

const CONFIGS = 'configs';
/**
 * Half of the life of a token. The other half is for readers of the file just before it is renewed, and for a database
 * that is away.
 */
const RENEW_MS = (TOKEN_LIFE_SECONDS * 1000) / 2;

export function createEngineIdentities(
  { essential, createCache }: Pick<Platform, 'essential' | 'createCache'>,
  tokens: WorkloadTokens,
): EngineIdentities {
  const cache = createCache<string, TokenConfigRow[]>(() => [CONFIGS_SUBJECT]);
  const enabled = async (db: Queryable) =>
    (cache.get(CONFIGS) ?? (await cache.load(CONFIGS, () => listTokenConfigs(db)))).filter(
      ({ isEnabled }) => isEnabled,
    );

  return {
    async of(db, deploymentId, variables) {
      const configs = await enabled(db);
      if (!configs.length) return undefined;
      const passed = new Map(configs.map((config) => [config.id, passedVariables(config, variables)]));
      return {
        version: JSON.stringify([configs, [...passed], googleAccountOf(variables)]),
        renewMs: RENEW_MS,
        variablesIn: (folder) =>
          Object.assign(
            {},
            ...configs.map((config) =>
              engineVariables(config, { folder, deploymentId, passed: passed.get(config.id)! }),
            ),
          ),
        async makeFiles(folder) {
          const files = new Map<string, string>();
          // Read again, so that an engine that still runs gets nothing of a config that was deleted.
          for (const config of await enabled(essential)) {
            files.set(config.name, await tokens.sign(config, deploymentId));
            for (const [name, text] of filesBeside(config, folder, variables)) files.set(name, text);
          }
          return files;
        },
      };
    },
  };
}

const googleAccountOf = (variables: ReadonlyMap<string, string | null>) =>
  variables.get('GOOGLE_IMPERSONATE_SERVICE_ACCOUNT') ?? null;
