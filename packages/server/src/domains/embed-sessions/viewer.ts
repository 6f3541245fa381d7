/** Describes the viewer who holds a token, as the server sees them. */
import type { EmbedSession } from '../../platform/auth/actor.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import type { TenantSettings } from '../tenant-settings/index.ts';
import { valueInForce } from '../user-attributes/index.ts';
import * as store from './store.ts';

/** An attribute without a value has its default, or null. */
export const attributesInForce = ({ attributes }: Pick<store.RightsRow, 'attributes'>) =>
  Object.fromEntries(
    attributes.map(({ name, type, value, defaultValue }) => [name, valueInForce(type, value, defaultValue)]),
  );

export async function describeViewer(
  db: Queryable,
  tenantSettings: TenantSettings,
  { sessionId }: EmbedSession,
) {
  const session = await store.findSession(db, sessionId);
  // The session was deleted after the token was verified.
  if (!session) throw new ApiError('unauthenticated');
  const { embedTenant, creatorMode } = session;
  const rights = await store.findRights(db, session.userId, creatorMode ? embedTenant : null);
  const account = (await tenantSettings.current()).embedding;
  const { externalId, username, email, displayName, picture } = session;
  const { launchpadTabs, defaultLaunchpadViewGroup } = session;
  return {
    deploymentId: session.deploymentId,
    embedTenantName: embedTenant,
    creatorMode,
    user: { id: session.userId, externalId, username, email, displayName, picture },
    groups: rights.groups,
    tenantGroups: rights.tenantGroups,
    userAttributes: attributesInForce(rights),
    securityContext: session.securityContext,
    settings: {
      showDashboardChat: session.settings?.showDashboardChat ?? account.showDashboardChat ?? true,
    },
    embedTheme: session.embedTheme,
    // Creators cannot read the settings of the deployment.
    ...(creatorMode ? { launchpadTabs, defaultLaunchpadViewGroup } : {}),
    expiresAt: session.expiresAt,
  };
}
