import type { Module, Platform } from '../../platform/module.ts';
import type { RequireDeployment } from '../deployments/index.ts';
import type { EnvVars } from '../env-vars/index.ts';
import { createWorkloadKeys, keyRotation } from '../signing-keys/index.ts';
import { createEngineIdentities } from './engine-identities.ts';
import { oidcTokenConfigRoutes } from './routes.ts';
import { createWorkloadTokens } from './tokens.ts';

export { CONFIGS_SUBJECT, type EngineIdentities } from './engine-identities.ts';

export function createWorkloadIdentity(platform: Platform) {
  const keys = createWorkloadKeys(platform);
  const tokens = createWorkloadTokens(platform, keys);
  return { keys, tokens, identities: createEngineIdentities(platform, tokens) };
}

export const oidcTokenConfigs = (
  { publicUrl }: Platform,
  { keys, tokens }: ReturnType<typeof createWorkloadIdentity>,
  requireDeployment: RequireDeployment,
  variables: Pick<EnvVars, 'readEnvVars'>,
): Module => ({
  routes: oidcTokenConfigRoutes({ keys, tokens, publicUrl, requireDeployment, variables }),
  schedules: [keyRotation('workload-keys.rotate', keys)],
});
