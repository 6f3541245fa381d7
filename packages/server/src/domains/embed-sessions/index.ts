import type { Module, Platform } from '../../platform/module.ts';
import type { SigningKeys } from '../signing-keys/index.ts';
import { cleanup } from './cleanup.store.ts';
import { createEmbedCredential } from './credential.ts';
import { createEmbedTokens } from './embed-tokens.ts';
import type { MintOptions } from './mint.ts';
import { createRevocations } from './revocations.ts';
import { embedSessionRoutes } from './routes.ts';
import { embedSessionUpkeep } from './upkeep.ts';

export { endSessionsOfTenant } from './cleanup.store.ts';
export { describedViewer } from './described-viewer.ts';
export { toReader } from './embed-tokens.ts';
export { createProvision, type Provision } from './provision.ts';
export { findExternalUserId, type RightsRow, rightsOf } from './store.ts';
export { attributesInForce } from './viewer.ts';

export interface EmbedSessionOptions extends Omit<MintOptions, 'db' | 'sessionIds'> {
  signingKeys: SigningKeys;
}

export const embedSessions = (platform: Platform, options: EmbedSessionOptions): Module => {
  const { signingKeys, ...minting } = options;
  const revocations = createRevocations(platform);
  const embedTokens = createEmbedTokens(platform, { signingKeys, revocations });
  const credential = createEmbedCredential(platform, embedTokens);
  return {
    routes: embedSessionRoutes(platform, { ...minting, revocations, embedTokens }),
    schedules: [embedSessionUpkeep],
    credentials: [credential.kind],
    cleanup,
    async stop() {
      revocations.stop();
      await credential.stop();
    },
  };
};
