/** Environment tokens as credentials. They are accepted by operations that query, and by no other. */
import { mayIn } from '../../platform/auth/access.ts';
import type { TokenHolder } from '../../platform/auth/actor.ts';
import type { CredentialKind } from '../../platform/auth/credentials.ts';
import { createStoredCredentials, type VerifiedActor } from '../../platform/auth/stored-credentials.ts';
import type { Platform } from '../../platform/module.ts';
import { toPermissions } from '../access/index.ts';
import * as store from './credential.store.ts';
import { ACTION_FOR } from './rules.ts';
import { looksLikeEnvironmentToken, TOKEN_PREFIX } from './secret.ts';

/** The key that a token was made with. If the key changes, the token is looked up again. */
type Holder = TokenHolder & { apiKeyId: number | null };

export function createEnvironmentCredential(
  platform: Pick<Platform, 'essential' | 'createCache'>,
): CredentialKind {
  const { essential: db } = platform;
  const tokens = createStoredCredentials<Holder>(platform, {
    async find(hash) {
      const row = await store.findCredential(db, hash);
      return row && mayCreate(row) ? verified(row) : undefined;
    },
    listKnown: (hashes) => store.listKnownHashes(db, hashes),
    subjectsOf: ({ userId, deploymentId, apiKeyId }) => [
      `user:${userId}`,
      `deployment:${deploymentId}`,
      ...(apiKeyId === null ? [] : [`key:${apiKeyId}`]),
    ],
    unknown: 'The environment token is unknown or has expired, or its creator or its environment is gone.',
  });

  return {
    name: 'environment token',
    auths: ['query'],
    schemes: ['bearer'],
    inPages: true,
    example: { secret: TOKEN_PREFIX + 'x'.repeat(43) },
    takes: ({ secret }) => looksLikeEnvironmentToken(secret),
    verify: ({ secret, address }) => tokens.verify(secret, address),
    howToSend: `\`Authorization: Bearer ${TOKEN_PREFIX}…\``,
    whyNot: ({ secret }) =>
      secret.startsWith(TOKEN_PREFIX)
        ? 'This is not an environment token: it has another length.'
        : undefined,
  };
}

/** Whether the creator could still create such a token. */
function mayCreate(row: store.CredentialRow): boolean {
  const permissions = toPermissions(row);
  const allows = (action: Parameters<typeof mayIn>[2]) => mayIn(permissions, row.deploymentId, action);
  return allows('DeploymentRead') && allows(ACTION_FOR[row.purpose]);
}

function verified(row: store.CredentialRow): VerifiedActor<Holder> {
  const { tokenId, userId, apiKeyId, deploymentId, branchId, purpose, securityContext, expiresAt } = row;
  const actor: Holder = {
    kind: 'tokenHolder',
    tokenId,
    userId,
    apiKeyId,
    deploymentId,
    branchId,
    scopes: new Set(row.scopes),
    securityContext,
    isCreator: purpose === 'own_identity',
  };
  return { actor, expiresAt };
}
