import { limits, operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { handle } from '../../platform/http/routes.ts';
import type { RequireDeployment } from '../deployments/index.ts';
import type { EnvVars } from '../env-vars/index.ts';
import { type SigningKeys, WORKLOAD_ALGORITHM } from '../signing-keys/index.ts';
import {
  audienceOf,
  engineVariables,
  freeName,
  passedVariables,
  REGISTERED_CLAIMS,
  requireValid,
  typeOf,
  warningsOf,
} from './rules.ts';
import * as store from './store.ts';
import type { WorkloadTokens } from './tokens.ts';

const refuseTaken = refusing({
  oidc_token_configs_name_key: 'oidc_token_config_name_taken',
  oidc_token_configs_target_env_var_key: 'target_env_var_taken',
  oidc_token_configs_one_of_each: 'oidc_token_config_exists',
});

interface Options {
  keys: SigningKeys;
  tokens: WorkloadTokens;
  publicUrl: string;
  requireDeployment: RequireDeployment;
  variables: Pick<EnvVars, 'readEnvVars'>;
}

export function oidcTokenConfigRoutes({
  keys,
  tokens,
  publicUrl,
  requireDeployment,
  variables: { readEnvVars },
}: Options) {
  // Computed for each reply, because commands beside the server make routes without an address.
  const toReply = (row: store.TokenConfigRow) => ({ ...row, warnings: warningsOf(publicUrl) });
  return [
    handle(operations.listOidcTokenConfigs, async ({ db }) =>
      (await store.listTokenConfigs(db)).map(toReply),
    ),

    handle(operations.createOidcTokenConfig, ({ change }, { body }) => {
      const { audienceType, subFormat = null, customClaims = null, targetEnvVar = null, isEnabled } = body;
      const type = typeOf(body);
      const wanted = {
        name: body.name ?? '',
        audienceType,
        audience: audienceOf(type, body.customAudience),
        subFormat,
        customClaims: customClaims as Record<string, unknown> | null,
        targetEnvVar,
        isEnabled: isEnabled ?? true,
      };
      requireValid(wanted);
      return change(async (tx) => {
        await store.lockCreation(tx);
        const taken = (await store.listTokenConfigs(tx)).map(({ name }) => name);
        if (taken.length >= limits.oidcTokenConfigs) throw new ApiError('oidc_token_config_limit_reached');
        const name = wanted.name || freeName(type, taken);
        const config = await store.insertTokenConfig(tx, { ...wanted, name }).catch(refuseTaken);
        return { reply: toReply(config), changes: created(config) };
      });
    }),

    handle(operations.getOidcTokenConfig, async ({ db }, { params }) =>
      toReply(found(await store.findTokenConfig(db, params.id), 'oidc_token_config_not_found')),
    ),

    handle(operations.updateOidcTokenConfig, ({ change }, { params, body }) =>
      change(async (tx) => {
        const before = found(await store.lockTokenConfig(tx, params.id), 'oidc_token_config_not_found');
        const { customAudience, name, isEnabled, customClaims, ...rest } = body;
        const wanted = {
          ...before,
          ...rest,
          ...(customClaims !== undefined && { customClaims: customClaims as Record<string, unknown> | null }),
          name: name ?? before.name,
          isEnabled: isEnabled ?? before.isEnabled,
          audience:
            customAudience === undefined ? before.audience : audienceOf(typeOf(before), customAudience),
        };
        requireValid(wanted);
        const after = await store.updateTokenConfig(tx, before.id, wanted).catch(refuseTaken);
        return { reply: toReply(after), changes: changed(before, after) };
      }),
    ),

    handle(operations.deleteOidcTokenConfig, ({ change }, { params }) =>
      change(async (tx) => {
        const before = found(await store.deleteTokenConfig(tx, params.id), 'oidc_token_config_not_found');
        return { reply: undefined, changes: deleted(before) };
      }),
    ),

    handle(operations.previewOidcToken, async ({ db }, { params, body: { deploymentId } }) => {
      const config = found(await store.findTokenConfig(db, params.id), 'oidc_token_config_not_found');
      await requireDeployment(deploymentId);
      const passed = passedVariables(config, await readEnvVars(db, deploymentId));
      const variables = engineVariables(config, { folder: '', deploymentId, passed });
      return {
        ...(await tokens.draft(config, deploymentId)),
        variables: Object.keys(variables).sort(),
        warnings: warningsOf(publicUrl),
      };
    }),

    handle(operations.getOpenIdConfiguration, () => ({
      issuer: publicUrl,
      jwks_uri: `${publicUrl}${operations.getWorkloadJwks.path}`,
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: [WORKLOAD_ALGORITHM],
      scopes_supported: ['openid'],
      claims_supported: REGISTERED_CLAIMS,
    })),

    handle(operations.getWorkloadJwks, async () => ({
      keys: (await keys.all()).map(({ id, publicKey }) => {
        const { kty, n, e } = publicKey.export({ format: 'jwk' }) as { kty: string; n: string; e: string };
        return { kty, n, e, kid: id, alg: WORKLOAD_ALGORITHM, use: 'sig' };
      }),
    })),
  ];
}
