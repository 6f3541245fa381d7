/** API keys as credentials. */
import type { KeyHolder } from '../../platform/auth/actor.ts';
import type { CredentialKind } from '../../platform/auth/credentials.ts';
import { createStoredCredentials } from '../../platform/auth/stored-credentials.ts';
import { writeUses } from '../../platform/auth/uses.ts';
import type { Platform } from '../../platform/module.ts';
import { toPermissions } from '../access/index.ts';
import * as store from './credential.store.ts';
import { API_KEY_PREFIX, looksLikeApiKey } from './secret.ts';

export interface ApiKeyCredential {
  kind: CredentialKind;
  stop(): Promise<void>;
}

export function createApiKeyCredential(
  platform: Pick<Platform, 'essential' | 'createCache' | 'log'>,
): ApiKeyCredential {
  const { essential: db, log } = platform;
  const uses = writeUses({ write: (due) => store.updateLastUsed(db.writes, due), log });
  const keys = createStoredCredentials<KeyHolder>(platform, {
    async find(hash) {
      const row = await store.findCredential(db, hash);
      if (!row) return undefined;
      const { userId, apiKeyId, deploymentIds, expiresAt } = row;
      const actor = { kind: 'person', userId, apiKeyId, sessionId: null, deploymentIds } as const;
      return { actor: { ...actor, ...toPermissions(row) }, expiresAt };
    },
    listKnown: (hashes) => store.listKnownHashes(db, hashes),
    subjectsOf: ({ userId, apiKeyId }) => [`user:${userId}`, `key:${apiKeyId}`],
    note: ({ apiKeyId }) => uses.note(apiKeyId),
    unknown: 'The API key is unknown, has expired or was deleted, or its user is deactivated.',
  });

  const kind: CredentialKind = {
    name: 'API key',
    auths: ['management', 'apiKey', 'query'],
    schemes: ['api-key', 'bearer'],
    example: { secret: `${API_KEY_PREFIX}an-example` },
    takes: ({ secret }) => looksLikeApiKey(secret),
    verify: ({ secret, address }) => keys.verify(secret, address),
    howToSend: '`Authorization: Api-Key sk-…` (or `Bearer sk-…`)',
    whyNot({ scheme, secret }) {
      if (secret.startsWith(API_KEY_PREFIX)) {
        return `This is not an API key. An API key is \`${API_KEY_PREFIX}\`, followed by 8 to 253 printable characters.`;
      }
      return scheme === 'api-key' ? `The API key does not begin with \`${API_KEY_PREFIX}\`.` : undefined;
    },
  };
  return { kind, stop: uses.stop };
}
