/** Puts platform and domains together into one HTTP application. */
import { allOperations, openApiDocument, operations } from '@oriel/contract';
import type { FastifyInstance } from 'fastify';
import type { Config } from './config.ts';
import { apiKeyRoutes } from './domains/api-keys/index.ts';
import { appConfigRoutes } from './domains/app-config/index.ts';
import { deploymentCheck, deploymentRoutes, type KnownDeployments } from './domains/deployments/index.ts';
import { embedSessionRoutes } from './domains/embed-sessions/index.ts';
import { embedTenantRoutes } from './domains/embed-tenants/index.ts';
import { folderRoutes } from './domains/folders/index.ts';
import { policyRoutes } from './domains/policies/index.ts';
import { regionRoutes } from './domains/regions/index.ts';
import { reportRoutes } from './domains/reports/index.ts';
import { roleRoutes } from './domains/roles/index.ts';
import { type TenantSettings, tenantSettingsRoutes } from './domains/tenant-settings/index.ts';
import { userAttributeRoutes, userAttributeValueRoutes } from './domains/user-attributes/index.ts';
import { userGroupRoutes } from './domains/user-groups/index.ts';
import { type UserCache, userRoutes } from './domains/users/index.ts';
import { workbookRoutes } from './domains/workbooks/index.ts';
import { workspaceRoutes } from './domains/workspace/index.ts';
import type { Authenticator } from './platform/auth/authenticate.ts';
import type { EmbedTokens } from './platform/auth/embed-tokens.ts';
import type { Revocations } from './platform/auth/revocations.ts';
import type { SigningKeys } from './platform/auth/signing-keys.ts';
import type { Database } from './platform/db/database.ts';
import { registerDocsRoutes } from './platform/http/docs-routes.ts';
import type { Metrics } from './platform/http/metrics.ts';
import { registerOperationalRoutes } from './platform/http/operational-routes.ts';
import { type Cursors, createCursors } from './platform/http/pages.ts';
import { handle, type Route, registerRoutes } from './platform/http/routes.ts';
import { createHttpServer, type Timeouts } from './platform/http/server.ts';
import type { Logger } from './platform/log.ts';
import { deriveKey } from './platform/secrets.ts';

export interface AppOptions {
  db: Database;
  authenticator: Authenticator;
  signingKeys: SigningKeys;
  embedTokens: EmbedTokens;
  revocations: Revocations;
  userCache: UserCache;
  tenantSettings: TenantSettings;
  tenant: string;
  maxExternalUsers: number;
  knownDeployments: KnownDeployments;
  log: Logger;
  metrics: Metrics;
  secretKey: string;
  publicUrl: string;
  plan: Config['plan'];
  trustProxy: string[];
  metricsToken: string | undefined;
  timeouts?: Timeouts;
}

export function createApp(options: AppOptions): FastifyInstance {
  const app = createHttpServer(options);
  const requireDeployment = deploymentCheck(options);
  const cursors = createCursors(deriveKey(options.secretKey, 'cursors'));
  const routes = allRoutes({ ...options, requireDeployment, cursors });
  requireComplete(routes);
  registerRoutes(app, routes, { ...options, requireDeployment, cursors });
  registerOperationalRoutes(app, options);
  registerDocsRoutes(app);
  return app;
}

type RequireDeployment = ReturnType<typeof deploymentCheck>;

function allRoutes(
  options: AppOptions & { requireDeployment: RequireDeployment; cursors: Cursors },
): Route[] {
  const { cursors, publicUrl, plan, tenant, userCache } = options;
  const document = openApiDocument(allOperations);
  return [
    ...deploymentRoutes({ cursors, publicUrl }),
    ...regionRoutes(),
    ...userRoutes({ userCache }),
    ...apiKeyRoutes({ cursors }),
    ...roleRoutes({ cursors }),
    ...userGroupRoutes({ cursors }),
    ...userAttributeRoutes(),
    ...userAttributeValueRoutes(),
    ...tenantSettingsRoutes({ plan }),
    ...appConfigRoutes(),
    ...embedTenantRoutes({ cursors, ownTenant: tenant }),
    ...policyRoutes(),
    ...folderRoutes(),
    ...workbookRoutes(),
    ...reportRoutes(),
    ...workspaceRoutes(),
    ...embedSessionRoutes({ ...options, cursors }),
    handle(operations.getSpec, () => document),
  ];
}

/** What the contract lists is built, and once. */
function requireComplete(routes: Route[]) {
  const handled = routes.map(({ operation }) => operation.id);
  const missing = allOperations.filter(({ id }) => !handled.includes(id)).map(({ id }) => id);
  const twice = handled.filter((id, i) => handled.indexOf(id) !== i);
  if (missing.length) throw new Error(`no handler for ${missing.join(', ')}`);
  if (twice.length) throw new Error(`several handlers for ${twice.join(', ')}`);
}
