/** Services at which people allow this server to act for them, and the tokens that they got there. */
import { expirySchedule } from '../../platform/jobs/upkeep.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { Connections } from '../pages/index.ts';
import type { Events } from '../webhooks/index.ts';
import { cleanup } from './cleanup.store.ts';
import { deleteExpiredFlows } from './flows.store.ts';
import { createFlows } from './flows.ts';
import { createIntegrations } from './integrations.ts';
import { createProvider } from './provider.ts';
import { createRevocations } from './revocations.ts';
import { oauthRoutes } from './routes.ts';
import { createSourceAccess, type SourceAccess } from './source-access.ts';
import { deleteUnrevokable } from './tokens.store.ts';
import { createUserTokens } from './tokens.ts';

export type { OwnAccess, PersonalSource, SourceAccess } from './source-access.ts';
export { clearSecrets as clearOAuthSecrets } from './store.ts';

export interface OAuth {
  module: Module;
  connections: Connections;
  sourceAccess: SourceAccess;
}

const upkeep = expirySchedule('oauth.delete-expired', 17, [deleteExpiredFlows, deleteUnrevokable]);

/** `allowPrivate` is ORIEL_ALLOW_PRIVATE_REMOTES. */
export function createOAuth(
  platform: Platform,
  { allowPrivate, events }: { allowPrivate: boolean; events: Pick<Events, 'record'> },
): OAuth {
  const { db, keysFor, log, outbound, publicUrl } = platform;
  const integrations = createIntegrations(platform, { allowPrivate });
  const provider = createProvider(outbound, publicUrl);
  const tokens = createUserTokens({ platform, db, integrations, provider, log, events });
  const flows = createFlows({ integrations, provider, tokens, keys: keysFor('oauth flows'), log });
  const revocations = createRevocations({ integrations, provider, tokens });
  const used = { integrations, flows, revocation: revocations.job };
  return {
    module: {
      routes: oauthRoutes(used),
      jobs: [revocations.job],
      schedules: [revocations.schedule, upkeep],
      cleanup,
    },
    connections: flows,
    sourceAccess: createSourceAccess({ integrations, tokens, publicUrl, allowPrivate }),
  };
}
