/** Puts platform and domains together into one HTTP application. */
import { allOperations, openApiDocument, operations } from '@oriel/contract';
import type { FastifyInstance } from 'fastify';
import type { Config } from './config.ts';
import { apiKeyRoutes } from './domains/api-keys/index.ts';
import { appConfigRoutes } from './domains/app-config/index.ts';
import { deploymentCheck, deploymentRoutes, type KnownDeployments } from './domains/deployments/index.ts';
import { embedSessionRoutes } from './domains/embed-sessions/index.ts';
import { embedTenantRoutes } from './domains/embed-tenants/index.ts';
import { createTrees, folderRoutes } from './domains/folders/index.ts';
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
import { createAtOnce } from './platform/http/at-once.ts';
import { registerDocsRoutes } from './platform/http/docs-routes.ts';
import type { Metrics } from './platform/http/metrics.ts';
import { registerOperationalRoutes } from './platform/http/operational-routes.ts';
import { type Cursors, createCursors } from './platform/http/pages.ts';
import { type Route, registerRoutes } from './platform/http/routes.ts';
import { createHttpServer, type Timeouts } from './platform/http/server.ts';
import { registerSpecRoute } from './platform/http/spec-route.ts';
import type { Logger } from './platform/log.ts';
import { deriveKey } from './platform/secrets.ts';

export interface AppOptions {
  /** For content. */
  db: Database;
  /** For what must answer however busy that one is: credentials, minting, exchanging, readiness, metrics. */
  essential: Database;
  authenticator: Authenticator;
  signingKeys: SigningKeys;
  embedTokens: EmbedTokens;
  revocations: Revocations;
  userCache: UserCache;
  tenantSettings: TenantSettings;
  tenant: string;
  maxExternalUsers: number;
  limits: Config['limits'];
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
  const app = createHttpServer({ ...options, maxConnections: options.limits.connections });
  const atOnce = createAtOnce(options.limits);
  const { essential, knownDeployments } = options;
  const requireDeployment = deploymentCheck({ db: essential, knownDeployments });
  const cursors = createCursors(deriveKey(options.secretKey, 'cursors'));
  const routes = allRoutes({ ...options, requireDeployment, cursors });
  requireComplete(routes);
  registerRoutes(app, routes, { ...options, atOnce, requireDeployment, cursors });
  registerOperationalRoutes(app, { ...options, db: essential });
  registerSpecRoute(app, openApiDocument(allOperations));
  registerDocsRoutes(app);
  return app;
}

type RequireDeployment = ReturnType<typeof deploymentCheck>;

function allRoutes(
  options: AppOptions & { requireDeployment: RequireDeployment; cursors: Cursors },
): Route[] {
  const { cursors, publicUrl, plan, tenant, maxExternalUsers, userCache, knownDeployments } = options;
  const trees = createTrees();
  return [
    ...deploymentRoutes({ cursors, publicUrl, knownDeployments }),
    ...regionRoutes({ cursors }),
    ...userRoutes({ userCache }),
    ...apiKeyRoutes({ cursors }),
    ...roleRoutes({ cursors }),
    ...userGroupRoutes({ cursors }),
    ...userAttributeRoutes({ cursors }),
    ...userAttributeValueRoutes(),
    ...tenantSettingsRoutes({ plan }),
    ...appConfigRoutes(),
    ...embedTenantRoutes({ cursors, ownTenant: tenant, maxExternalUsers }),
    ...policyRoutes(),
    ...folderRoutes({ trees }),
    ...workbookRoutes(),
    ...reportRoutes(),
    ...workspaceRoutes({ trees }),
    ...embedSessionRoutes({ ...options, db: options.essential, cursors }),
  ];
}

/** What the contract lists is built, and once. */
function requireComplete(routes: Route[]) {
  const handled = [...routes.map(({ operation }) => operation.id), operations.getSpec.id];
  const missing = allOperations.filter(({ id }) => !handled.includes(id)).map(({ id }) => id);
  const twice = handled.filter((id, i) => handled.indexOf(id) !== i);
  if (missing.length) throw new Error(`no handler for ${missing.join(', ')}`);
  if (twice.length) throw new Error(`several handlers for ${twice.join(', ')}`);
}
