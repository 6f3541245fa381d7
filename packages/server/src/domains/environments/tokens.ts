/** Creates tokens for the environments of a deployment. */
import { limits } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import type { Person } from '../../platform/auth/actor.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { lockDeployment } from '../deployments/index.ts';
import { lockEnvironment } from './branches.store.ts';
import { LIFE_SECONDS_DEFAULT, type Purpose, scopesOf, TOKENS_MAX } from './rules.ts';
import { newSecret } from './secret.ts';
import * as store from './store.ts';

export interface TokenRequest {
  deploymentId: number;
  /** The id of its branch, or the production environment. */
  environment: number | 'production';
  purpose: Purpose;
  securityContext: object;
  scopes?: readonly string[] | null;
  lifeSeconds?: number | null;
}

/** `text` is the token itself. It cannot be read again. */
export interface CreatedToken extends store.TokenRow {
  text: string;
}

export async function createToken(
  tx: Tx,
  { userId, apiKeyId, sessionId }: Person,
  request: TokenRequest,
): Promise<{ token: CreatedToken; change: Change }> {
  const { deploymentId, environment, purpose, securityContext } = request;
  // Only one transaction at a time creates tokens for a deployment, so that their number is exact.
  found(await lockDeployment(tx, deploymentId), 'deployment_not_found');
  const branch = await lockEnvironment(tx, { deploymentId, userId }, environment);
  const { id: branchId, name: branchName } = found(branch, 'environment_not_found');
  if ((await store.countTokensOfDeployment(tx, deploymentId)) >= TOKENS_MAX) {
    throw new ApiError('environment_token_limit_reached');
  }
  const { text, hash, ending } = newSecret();
  const scopes = scopesOf(purpose, request.scopes);
  const token = await store.insertToken(tx, {
    deploymentId,
    branchId,
    hash,
    ending,
    userId,
    apiKeyId,
    sessionId,
    purpose,
    scopes,
    securityContext,
    lifeSeconds: request.lifeSeconds ?? LIFE_SECONDS_DEFAULT,
  });
  const { id, expiresAt } = token;
  const audited = {
    id,
    environmentId: String(branchId),
    branchName,
    purpose,
    scopes,
    securityContext,
    expiresAt,
  };
  return { token: { ...token, text }, change: { id, before: null, after: audited } };
}

/** Throws a 400 if the security context is too large. */
export function requireContext(securityContext: object) {
  if (Buffer.byteLength(JSON.stringify(securityContext)) <= limits.tokenContext) return;
  const message = '`security_context` is larger than 16 KB.';
  throw new ApiError('security_context_too_large', {
    message,
    issues: [{ path: 'security_context', message }],
  });
}

/** The security context of a token that queries as its creator. */
export const ownContext = ({ securityContext, username, email }: store.IdentityRow, userId: number) => ({
  ...securityContext,
  user: { id: userId, username, email },
});
