/** The one list of domains, and the HTTP application made of them. */
import { readFile } from 'node:fs/promises';
import { allOperations, operations } from '@oriel/contract';
import { modelSchema } from '@oriel/semantic';
import type { FastifyInstance } from 'fastify';
import { API_DOCUMENT, APP_DIR, DEMO_MODEL_DIR, ENGINE_SCRIPT, VERSION, VIEWER_DIR } from './build-info.ts';
import type { Config } from './config.ts';
import { apiKeys } from './domains/api-keys/index.ts';
import { appConfig } from './domains/app-config/index.ts';
import { auditLog } from './domains/audit-log/index.ts';
import {
  builds,
  createBuilds,
  createCheckCommit,
  createCheckTree,
  createCompiler,
} from './domains/builds/index.ts';
import {
  createCharts,
  createPublishedDashboards,
  createRechecks,
  dashboards,
  demoDashboards,
} from './domains/dashboards/index.ts';
import {
  createBranchLock,
  createDataModels,
  dataModels,
  demoDataModel,
} from './domains/data-models/index.ts';
import { createDemoFiles, dataSources } from './domains/data-sources/index.ts';
import { createDeploymentLog, deploymentLogs } from './domains/deployment-logs/index.ts';
import { createRequireDeployment, deployments, type RequireDeployment } from './domains/deployments/index.ts';
import { createDeviceCodes, deviceCodes } from './domains/device-codes/index.ts';
import { createProvision, embedSessions } from './domains/embed-sessions/index.ts';
import { embedTenants } from './domains/embed-tenants/index.ts';
import { createAppFiles, embeddedPages } from './domains/embedded-pages/index.ts';
import { createEnvVars, envVars } from './domains/env-vars/index.ts';
import { environments } from './domains/environments/index.ts';
import { createFolderRemoval, createTrees, folders } from './domains/folders/index.ts';
import { createGitHosts, gitHosts, requestSync } from './domains/git-hosts/index.ts';
import { identities, signInWays } from './domains/identities/index.ts';
import { demoNoted } from './domains/installation/index.ts';
import { jobs } from './domains/jobs/index.ts';
import { mergePreviews } from './domains/merge-previews/index.ts';
import { modelSyncs } from './domains/model-syncs/index.ts';
import { notices } from './domains/notices/index.ts';
import { demoNotification, notifications } from './domains/notifications/index.ts';
import { createOAuth } from './domains/oauth-integrations/index.ts';
import { createWorkloadIdentity, oidcTokenConfigs } from './domains/oidc-token-configs/index.ts';
import { pages, SIGN_IN_PATH } from './domains/pages/index.ts';
import {
  createForgottenPasswords,
  createPasswordLinks,
  MAIL_SECRET,
  passwordLinks,
} from './domains/password-links/index.ts';
import { policies } from './domains/policies/index.ts';
import { createQueryApi, queries } from './domains/queries/index.ts';
import { createRecorder, queryActivity } from './domains/query-activity/index.ts';
import { regions } from './domains/regions/index.ts';
import { createRenderings, renderings } from './domains/renderings/index.ts';
import { reports } from './domains/reports/index.ts';
import { roles } from './domains/roles/index.ts';
import { scim } from './domains/scim/index.ts';
import { serverActivity } from './domains/server-activity/index.ts';
import { createPeopleSessions, sessions } from './domains/sessions/index.ts';
import { createSigningKeys, signingKeys } from './domains/signing-keys/index.ts';
import { createTenantSettings, tenantSettings } from './domains/tenant-settings/index.ts';
import { uploads } from './domains/uploads/index.ts';
import { createUsage, usageModule } from './domains/usage/index.ts';
import { userAttributes } from './domains/user-attributes/index.ts';
import { userGroups } from './domains/user-groups/index.ts';
import { createUserRemoval, users } from './domains/users/index.ts';
import { createWebhooks } from './domains/webhooks/index.ts';
import { workbooks } from './domains/workbooks/index.ts';
import { workspace } from './domains/workspace/index.ts';
import { createEngines } from './engines/engines.ts';
import { openPlatform } from './open-platform.ts';
import type { OnChange } from './platform/audit/change.ts';
import { type Authenticator, createAuthenticator } from './platform/auth/authenticate.ts';
import { findCleanups } from './platform/cleanup.ts';
import type { MissingReference } from './platform/db/foreign-keys.ts';
import { readIdentity } from './platform/db/identity.ts';
import { cleanup as gitCleanup } from './platform/git/cleanup.store.ts';
import { createTexts } from './platform/git/text-work.ts';
import type { AllowedOrigins } from './platform/http/cross-origin.ts';
import { registerDocsRoutes } from './platform/http/docs-routes.ts';
import { registerDocument } from './platform/http/document-routes.ts';
import { createEmbedAdmission, listeningLimits } from './platform/http/embed-admission.ts';
import type { ShowError } from './platform/http/error-page.ts';
import { createMetrics } from './platform/http/metrics.ts';
import { registerOperationalRoutes } from './platform/http/operational-routes.ts';
import { registerRoutes } from './platform/http/routes.ts';
import { createHttpServer, type Timeouts } from './platform/http/server.ts';
import { scheduleCleanup } from './platform/jobs/schedules.ts';
import type { Logger } from './platform/log.ts';
import type { Module, Platform } from './platform/module.ts';
import { createKeyring } from './platform/secrets/keyring.ts';
import { createShutdown } from './platform/shutdown.ts';
import { StartupError } from './platform/startup-error.ts';

export interface Modules {
  list: Module[];
  authenticator: Authenticator;
  requireDeployment: RequireDeployment;
  showError: ShowError;
  allowedOrigins: AllowedOrigins;
  onChange: OnChange;
}

export type ModuleSettings = Pick<
  Config,
  | 'tenant'
  | 'plan'
  | 'maxExternalUsers'
  | 'deviceCodeSeconds'
  | 'embedQuerySeconds'
  | 'allowPrivateRemotes'
  | 'dbtPython'
> & {
  /** The size limit of all uploaded files of a deployment together, if not the default. */
  dataFilesMb?: number;
  /** Holds the files that engines read. */
  dataDir: string;
  oidc?: Config['oidc'];
  githubApp?: Config['githubApp'];
  slackToken?: Config['slackToken'];
  /** Whether the secret key is a file in the data dir, and not a setting. */
  hasKeyInDataDir?: boolean;
  latestRelease?: Config['latestRelease'];
  /** How long a change of folders or of a branch waits for its lock, if not the default. */
  turnWaitMs?: number;
};

/**
 * A module comes after the modules that it refers to. Demo steps run in this order, and kinds of credentials are tried
 * in it. Modules stop in the reverse order, and also remove the rows of deleted resources in the reverse order.
 */
export function createModules(platform: Platform, settings: ModuleSettings): Modules {
  const { plan, tenant, maxExternalUsers, deviceCodeSeconds } = settings;
  const requireDeployment = createRequireDeployment(platform);
  const account = createTenantSettings(platform);
  const trees = createTrees(settings.turnWaitMs);
  const cleanup = findCleanups(() => list);
  const removal = createFolderRemoval(cleanup);
  const userRemoval = createUserRemoval(cleanup);
  const keys = createSigningKeys(platform);
  const people = createPeopleSessions(platform);
  const variables = createEnvVars(platform);
  const deploymentLog = createDeploymentLog(platform);
  const compiler = createCompiler();
  const checkTree = createCheckTree(compiler);
  const { events, module: webhooks } = createWebhooks(platform, {
    allowPrivate: settings.allowPrivateRemotes,
  });
  const { onChange } = events;
  const build = createBuilds({ log: deploymentLog, compiler, events });
  // Commits that are built may also have to be pushed to the Git host.
  const enqueueBuild: typeof build.enqueueBuild = async (tx, branch) => {
    await requestSync(tx, branch.deploymentId, false);
    return build.enqueueBuild(tx, branch);
  };
  const engines = createEngines({
    script: ENGINE_SCRIPT,
    dataDir: settings.dataDir,
    allowPrivateRemotes: settings.allowPrivateRemotes,
    ownDatabase: () => readIdentity(platform.essential),
    log: platform.log,
  });
  const workloads = createWorkloadIdentity(platform);
  const prepareFiles = createDemoFiles({ engines, log: platform.log });
  const oauth = createOAuth(platform, { allowPrivate: settings.allowPrivateRemotes, events });
  const { sourceAccess } = oauth;
  const usage = createUsage(platform);
  const recorder = createRecorder(platform, usage);
  const queryApi = recorder.watch(
    createQueryApi(platform, {
      engines,
      compiler,
      variables,
      identities: workloads.identities,
      tenantSettings: account,
      sourceAccess,
      prepareFiles,
      dataDir: settings.dataDir,
      embedQueryMs: 1000 * settings.embedQuerySeconds,
    }),
  );
  const { essential, keysFor, mail, publicUrl } = platform;
  const linkBox = platform.box(MAIL_SECRET);
  const links = createPasswordLinks({
    keys: keysFor('password links'),
    publicUrl,
    mailing: mail && { mail, box: linkBox },
  });
  const forgotten = createForgottenPasswords({
    db: essential,
    mail,
    links,
    signInUrl: publicUrl + SIGN_IN_PATH,
  });
  const devices = createDeviceCodes({
    db: essential,
    keys: keysFor('device codes'),
    publicUrl,
    seconds: deviceCodeSeconds,
    sessions: people.sessions,
  });
  const app = createAppFiles(APP_DIR);
  const forPeople = pages(platform, {
    app,
    people,
    devices,
    links,
    forgotten: mail && forgotten,
    ways: signInWays(settings.oidc),
    connections: oauth.connections,
  });
  const charts = createCharts();
  const rechecks = createRechecks(charts);
  const published = createPublishedDashboards(rechecks);
  const drawing = createRenderings({ queries: queryApi });
  const models = createDataModels(enqueueBuild);
  const branchTurns = createBranchLock(settings.turnWaitMs);
  const texts = createTexts();
  const hosts = createGitHosts(platform, {
    texts,
    branchTurns,
    enqueueBuild,
    onChange,
    events,
    githubApp: settings.githubApp,
    allowPrivate: settings.allowPrivateRemotes,
  });
  const list: Module[] = [
    { cleanup: scheduleCleanup },
    { cleanup: gitCleanup },
    deployments(platform, {
      cleanup,
      models,
      demo: () => list.flatMap(({ demo }) => demo ?? []),
      version: VERSION,
    }),
    { demo: demoDataModel(models, DEMO_MODEL_DIR) },
    envVars(variables),
    regions(platform),
    users(platform, { removal: userRemoval, invite: links.invite }),
    apiKeys(platform),
    sessions(platform, people),
    deviceCodes(platform, devices, people.sessions),
    passwordLinks(links, forgotten),
    forPeople,
    identities(platform, { settings: settings.oidc, console: people.console, links, onChange }),
    oauth.module,
    signingKeys(platform, { keys }),
    oidcTokenConfigs(platform, workloads, requireDeployment, variables),
    roles(platform),
    userGroups(platform, { tenant, maxExternalUsers }),
    scim(platform, { removal: userRemoval }),
    userAttributes(platform),
    tenantSettings(platform, { plan }),
    appConfig(platform),
    dataModels({
      enqueueBuild,
      branchTurns,
      texts,
      pull: hosts.pull,
      removeRemoteBranch: hosts.removeBranch,
    }),
    gitHosts(platform, hosts, { enqueueBuild, checkCommit: createCheckCommit(checkTree) }),
    mergePreviews({ texts, checkTree }),
    modelSyncs(platform, {
      enqueueBuild,
      branchTurns,
      texts,
      onChange,
      events,
      openSnapshot: hosts.openSnapshot,
      dbtPython: settings.dbtPython,
      allowPrivate: settings.allowPrivateRemotes,
    }),
    environments(platform),
    uploads({ enqueueBuild, branchTurns }),
    deploymentLogs(platform, deploymentLog),
    builds(platform, build, compiler),
    dataSources({
      engines,
      variables,
      identities: workloads.identities,
      prepareFiles,
      sourceAccess,
      enqueueBuild,
      branchTurns,
      dataDir: settings.dataDir,
      dataFilesMb: settings.dataFilesMb ?? 10_240,
    }),
    usageModule(platform, usage),
    queryActivity(platform, recorder),
    serverActivity(platform, engines, usage),
    queries(queryApi, engines),
    jobs(platform),
    notices(platform, {
      dataDir: settings.dataDir,
      allowsPrivateRemotes: settings.allowPrivateRemotes,
      hasKeyInDataDir: settings.hasKeyInDataDir ?? false,
      version: VERSION,
      latestRelease: settings.latestRelease,
    }),
    auditLog(platform, { tenantSettings: account }),
    embedTenants(platform, { tenant, cleanup }),
    policies(platform),
    folders(platform, { trees, removal }),
    workbooks(published.findOfWorkbook),
    reports(queryApi),
    dashboards(platform, charts, rechecks, queryApi),
    renderings(drawing, published),
    workspace(platform, { trees, removal }),
    notifications(platform, {
      tenantSettings: account,
      tenant,
      queries: queryApi,
      renderings: drawing,
      readPublished: published.version,
      events,
      show: forPeople.show,
      slackToken: settings.slackToken,
      provision: createProvision({ plan, maxExternalUsers, tenantSettings: account }),
    }),
    { demo: demoDashboards(charts) },
    { demo: demoNotification },
    { demo: demoNoted },
    embedSessions(platform, {
      signingKeys: keys,
      tenant,
      plan,
      maxExternalUsers,
      tenantSettings: account,
      usage,
      requireDeployment,
    }),
    embeddedPages({ folder: VIEWER_DIR, app, tenantSettings: account }),
    webhooks,
  ];
  const authenticator = createAuthenticator(list.flatMap(({ credentials }) => credentials ?? []));
  const allowedOrigins = () => {
    const settings = account.current();
    return settings instanceof Promise
      ? settings.then(({ embedAllowedOrigins }) => embedAllowedOrigins)
      : settings.embedAllowedOrigins;
  };
  return { list, authenticator, requireDeployment, showError: forPeople.showError, allowedOrigins, onChange };
}

type AppSettings = Pick<Config, 'limits' | 'trustProxy' | 'metricsToken'> & {
  timeouts?: Timeouts;
  missingReference?: MissingReference;
};

/** For a server without the API. It serves only the routes for operators and their tools. */
export function createOperationalApp(
  platform: Platform,
  settings: AppSettings,
  showError?: ShowError,
): FastifyInstance {
  const { essential, log, metrics } = platform;
  const { limits, trustProxy, metricsToken, timeouts, missingReference } = settings;
  const app = createHttpServer({
    log,
    metrics,
    trustProxy,
    timeouts,
    maxConnections: limits.connections,
    missingReference,
    showError,
  });
  registerOperationalRoutes(app, { db: essential, log, metrics, metricsToken });
  return app;
}

export function createApp(platform: Platform, modules: Modules, settings: AppSettings): FastifyInstance {
  const { db, attempts, cursors, csrf, log } = platform;
  const { authenticator, requireDeployment, showError, allowedOrigins, onChange } = modules;
  const app = createOperationalApp(platform, settings, showError);
  const atOnce = createEmbedAdmission(settings.limits);
  const listening = createEmbedAdmission(listeningLimits(settings.limits.connections));
  const routes = modules.list.flatMap((module) => module.routes ?? []);
  registerRoutes(app, routes, {
    db,
    authenticator,
    attempts,
    atOnce,
    listening,
    requireDeployment,
    cursors,
    csrf,
    allowedOrigins,
    onChange,
    log,
  });
  registerDocument(app, operations.getSpec, () => readFile(API_DOCUMENT));
  registerDocument(app, operations.getModelSchema, async () => Buffer.from(JSON.stringify(modelSchema())));
  registerDocsRoutes(app);
  return app;
}

/**
 * Creates the modules once without a database, and throws unless they are complete. A start calls this first, so that a
 * mistake in the list stops it before the database is migrated.
 */
export async function checkModules(settings: ModuleSettings, log: Logger): Promise<void> {
  const shutdown = createShutdown(log);
  try {
    const platform = openPlatform({
      connection: {},
      pools: { dbConnections: 1, dbEssentialConnections: 1 },
      keyring: createKeyring(['nothing is sealed with this']),
      publicUrl: 'http://localhost',
      allowPrivateRemotes: false,
      log,
      metrics: createMetrics(),
      shutdown,
    });
    const { list } = createModules(platform, settings);
    for (const { stop } of list) if (stop) shutdown.add('a module', stop);
    requireHandlers(list);
  } finally {
    await shutdown.run();
  }
}

/** Throws unless every operation of the contract has exactly one handler. */
function requireHandlers(modules: Module[]) {
  const routes = modules.flatMap((module) => module.routes ?? []);
  const documents = [operations.getSpec.id, operations.getModelSchema.id];
  const handled = [...routes.map(({ operation }) => operation.id), ...documents];
  const missing = allOperations.filter(({ id }) => !handled.includes(id)).map(({ id }) => id);
  const twice = handled.filter((id, i) => handled.indexOf(id) !== i);
  const where = 'see the list of domains in packages/server/src/app.ts, and the routes.ts of the domain';
  if (missing.length) throw new StartupError(`There is no handler for ${missing.join(', ')}: ${where}.`);
  if (twice.length) throw new StartupError(`There are several handlers for ${twice.join(', ')}: ${where}.`);
}
