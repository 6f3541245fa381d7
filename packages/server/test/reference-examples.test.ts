/** Every request that the reference shows is sent to a server with the demo, and works. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  allOperations,
  bodyKindOf,
  hasBody,
  isPageForm,
  neverSucceeds,
  type Operation,
} from '@oriel/contract';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bodyExamples } from '../../contract/src/examples.ts';
import { codesToShow } from '../../contract/src/openapi-examples.ts';
import { errorCodeOf } from './error-code.ts';
import { documentedOperation, mismatch, publishedDocument } from './published-document.ts';
import { requestOf } from './samples.ts';
import { whenBuilt } from './shops.ts';
import { createSignable, logIn, signedIn } from './sign-in.ts';
import { createOwnWorld, unique, type World } from './world.ts';

/**
 * The input that an example needs and the reference cannot show: ids in the path, secrets in the body, another
 * credential.
 */
interface ExampleInput {
  path?: Record<string, string | number>;
  body?: object;
  token?: string;
}

let world: World;
beforeAll(async () => {
  world = await createOwnWorld({ env: { ORIEL_DEMO: 'true' } });
  await whenBuilt(world, 1);
  await send('generateSession');
});
afterAll(() => world.stop());

/** Forms of our pages hold a secret of the page, so only the pages send them. Plain bytes have no example. */
const withBody = allOperations.filter(
  (op) => hasBody(op) && bodyKindOf(op)!.kind !== 'bytes' && !isPageForm(op) && !neverSucceeds(op),
);

/** Why an example cannot succeed in a test; each is the next best answer. */
const REFUSED: Record<string, string> = {
  // A person has to approve the code in a browser.
  exchangeDeviceCode: 'authorization_pending',
  // The dashboards of the demo have no Python.
  postDashboardPythonRun: 'python_not_found',
  pull: 'no_remote',
  // Only a mail has such a link.
  unsubscribeByLink: 'link_not_valid',
  // They would ask a git host.
  connect: 'git_installation_not_found',
  testGitHostInstallation: 'git_installation_not_found',
  updateGitHostInstallation: 'git_installation_not_found',
};

const dbtFile = (name: string) =>
  readFileSync(join(import.meta.dirname, 'dbt/artifacts', `shop.${name}.json`), 'utf8');
const DBT_FILES = { manifest: dbtFile('manifest'), catalog: dbtFile('catalog') };

interface ExampleBody {
  schema: object;
  example?: object;
}
const shownOf = (op: Operation) =>
  documentedOperation(op.method, op.path)!.requestBody!.content as Record<string, ExampleBody>;
const exampleOf = (op: Operation) => shownOf(op)['application/json'] ?? Object.values(shownOf(op))[0]!;

/** The address with the given values, and otherwise with those that the reference fills in. */
function addressWith(op: Operation, given: ExampleInput['path'] = {}) {
  const shown = documentedOperation(op.method, op.path)!.parameters.flatMap(({ name, in: place, example }) =>
    name === undefined || example === undefined ? [] : [{ name, place, value: String(example) }],
  );
  const inQuery = shown.flatMap(({ name, place, value }): [string, string][] =>
    place === 'query' ? [[name, value]] : [],
  );
  const path = op.path.replaceAll(/\{(\w+)\}/g, (_, wanted) =>
    encodeURIComponent(given[wanted] ?? shown.find(({ name }) => name === wanted)!.value),
  );
  return inQuery.length ? `${path}?${new URLSearchParams(inQuery)}` : path;
}

async function send(id: string, { path, body, token }: ExampleInput = {}) {
  const op = withBody.find((one) => one.id === id)!;
  const { headers, ...init } = requestOf(op, { ...exampleOf(op).example, ...body });
  const authorization = token && { authorization: `Bearer ${token}` };
  return world.raw(op.method, addressWith(op, path), { headers: { ...headers, ...authorization }, ...init });
}

const one = async (made: Promise<{ id: number | string }>) => ({ id: (await made).id });
/** A deployment of its own, with the branch of the examples, on which the admin is in dev mode, and a change on it. */
async function branch(...steps: ('updateFiles' | 'commitChanges')[]) {
  const path = { deploymentId: (await world.deployment()).id };
  for (const step of ['createBranch', ...steps]) expect((await send(step, { path })).status).toBe(200);
  return { path };
}
const upload = async () => {
  const { path } = await branch('updateFiles');
  const { transaction } = (await (await send('startUpload', { path })).json()) as {
    transaction: { id: string };
  };
  return { path, transaction };
};
const workbook = async () => {
  const { id } = await world.admin.createWorkbook({ deploymentId: 1, body: {} });
  return { deploymentId: 1, workbookId: id };
};
const report = async () => {
  const { id } = await world.admin.createReport({ deploymentId: 1, body: {} });
  return { deploymentId: 1, reportId: id };
};
const group = async () => {
  const embedTenantName = 'acme-corp';
  const { id } = await world.admin.createGroup({ embedTenantName, body: { name: unique('group') } });
  return { embedTenantName, id };
};
const environment = async () => {
  const { items } = await world.admin.getDeploymentEnvironments({ deploymentId: 1 });
  return { deploymentId: 1, environmentId: items[0]!.id };
};
const person = async () => ({ id: (await world.person()).userId });
const notification = async () => ({
  deploymentId: 1,
  ...(await one(
    world.admin.createNotification({
      deploymentId: 1,
      body: { dashboardPublicId: 'DemoCommerce', scheduleType: 'HOURLY' },
    }),
  )),
});
const webhook = () =>
  one(world.admin.createWebhook({ body: { url: 'https://hooks.example.com/', events: ['role.deleted'] } }));
const tokenConfig = () =>
  one(world.admin.createOidcTokenConfig({ body: { audienceType: 'CUSTOM', customAudience: 'a' } }));
const userGroup = () => one(world.admin.createUserGroup({ body: { name: unique('group') } }));

/** The reference shows the address of a server that runs at its default port. */
const ours = () => ({ redirectUri: `${world.url}/oauth/callback` });

const given: Record<string, () => Promise<ExampleInput>> = {
  createOAuthIntegration: async () => ({ body: ours() }),
  updateOAuthIntegration: async () => {
    const made = await send('createOAuthIntegration', { body: { ...ours(), name: unique('service') } });
    return {
      path: { id: ((await made.json()) as { id: number }).id },
      body: { ...ours(), name: unique('service') },
    };
  },
  connect: async () => ({ body: { installationId: 404404 } }),
  testGitHostInstallation: async () => ({ path: { installationId: 404404 } }),
  updateGitHostInstallation: async () => ({ path: { installationId: 404404 } }),
  addGroupMembers: async () => ({ path: await group() }),
  removeGroupMembers: async () => ({ path: await group() }),
  updateGroup: async () => ({ path: await group() }),
  addUserGroupMembers: async () => ({ path: await userGroup() }),
  removeUserGroupMembers: async () => ({ path: await userGroup() }),
  updateUserGroup: async () => ({ path: await userGroup() }),
  patchScimGroup: async () => ({ path: await userGroup() }),
  replaceScimGroup: async () => ({ path: await userGroup() }),
  patchScimUser: async () => ({ path: await person() }),
  replaceScimUser: async () => ({ path: await person() }),
  createResetLink: async () => ({ path: await person() }),
  updateUser: async () => ({ path: await person() }),
  updateUserByPost: async () => ({ path: await person() }),
  bulkUserAction: async () => ({ body: { userIds: [(await person()).id] } }),
  updateApiKey: async () => ({ path: { id: (await world.person()).apiKeyId } }),
  updateRole: async () => ({
    path: await one(world.admin.createRole({ body: { name: unique('role'), actions: ['ReportRead'] } })),
  }),
  updateUserAttribute: async () => ({
    path: await one(world.admin.createUserAttribute({ body: { name: unique('attribute'), type: 'string' } })),
  }),
  updateNotification: async () => ({ path: await notification() }),
  runNotification: async () => ({ path: await notification() }),
  addRecipients: async () => ({ path: await notification() }),
  removeRecipients: async () => ({ path: await notification() }),
  updateWebhook: async () => ({ path: await webhook() }),
  rotateWebhookSecret: async () => ({ path: await webhook() }),
  updateOidcTokenConfig: async () => ({ path: await tokenConfig() }),
  previewOidcToken: async () => ({ path: await tokenConfig() }),
  advanceCreationStep: async () => {
    const { id: deploymentId } = await world.deployment();
    await world.admin.resetCreationStep({ deploymentId });
    return { path: { deploymentId } };
  },
  createBranch: async () => ({ path: { deploymentId: (await world.deployment()).id } }),
  updateDeployment: async () => ({ path: { deploymentId: (await world.deployment()).id } }),
  startDevMode: () => branch(),
  setBranchStagingEnvironment: () => branch(),
  updateFiles: () => branch(),
  startUpload: () => branch(),
  commitChanges: () => branch('updateFiles'),
  discardChanges: () => branch('updateFiles'),
  removeFiles: () => branch('updateFiles'),
  renameFiles: () => branch('updateFiles'),
  mergeIntoParentBranch: () => branch('updateFiles', 'commitChanges'),
  mergeToDefaultBranch: () => branch('updateFiles', 'commitChanges'),
  generateDataModel: async () => {
    const path = { deploymentId: 1 };
    await send('createBranch', { path });
    return { path };
  },
  uploadFile: async () => {
    const { path, transaction } = await upload();
    return { path, body: { transaction: transaction.id } };
  },
  finishUpload: async () => {
    const { path, transaction } = await upload();
    return { path, body: { transaction } };
  },
  startModelSync: async () => {
    const path = { deploymentId: (await world.deployment()).id };
    expect((await send('uploadModelSyncManifest', { path, body: DBT_FILES })).status).toBe(200);
    return { path };
  },
  uploadModelSyncManifest: async () => ({ body: DBT_FILES }),
  createDeploymentEnvironmentToken: async () => ({ path: await environment() }),
  createDeploymentEnvironmentTokenForMetaSync: async () => ({ path: await environment() }),
  updateWorkbook: async () => ({ path: await workbook() }),
  updateWorkbookDashboard: async () => ({ path: await workbook() }),
  duplicateWorkbook: async () => ({ path: await workbook() }),
  publishDashboard: async () => ({ path: await workbook() }),
  previewDashboardReports: async () => ({ path: await workbook() }),
  createDashboardPreview: async () => ({ path: await workbook() }),
  updateDashboardPresence: async () => ({ path: await workbook() }),
  loadDashboardPreview: async () => {
    const path = await workbook();
    const { previewId } = (await (await send('createDashboardPreview', { path })).json()) as {
      previewId: string;
    };
    return { path, body: { previewId } };
  },
  updateEmbedAccess: async () => ({ path: await workbook() }),
  updatePublishedDashboardAiWidgetThread: async () => {
    const path = await workbook();
    const widgets = [
      { id: 'assistant', type: 'AI' as const, position: { x: 0, y: 0, w: 4, h: 4 }, config: {} },
    ];
    await world.admin.publishDashboard({ ...path, body: { config: { widgets } } });
    return { path };
  },
  updateReport: async () => ({ path: await report() }),
  connectReportToWorkbook: async () => ({ path: await report() }),
  updateFolder: async () => {
    const { id } = await world.admin.createFolder({ deploymentId: 1, body: { name: unique('folder') } });
    return { path: { deploymentId: 1, folderId: id } };
  },
  postTokenBySessionId: async () => ({ body: (await (await send('generateSession')).json()) as object }),
  login: async () => ({ body: { email: (await createSignable(world)).email } }),
  logout: async () => ({ token: (await signedIn(world)).accessToken }),
  changeMyPassword: async () => ({ token: (await signedIn(world)).accessToken }),
  refreshTokens: async () => {
    const { refreshToken } = await logIn(world, await createSignable(world));
    return { body: { refreshToken } };
  },
  exchangeDeviceCode: async () => {
    const { deviceCode } = (await (await send('createDeviceCode')).json()) as { deviceCode: string };
    return { body: { deviceCode } };
  },
};

const prefilled = allOperations.filter(({ id, method, path }) =>
  method === 'GET' ? path.includes('{') : id === 'refreshReport',
);

/** What no server has before: a reader creates it, or finds its name, which holds a hash, in another reply. */
const FOUND_FIRST: Record<string, string> = {
  embeddedPageFile: 'embedded_file_not_found',
  exportDashboard: 'dashboard_not_found',
  finishNamedOAuthFlow: 'unauthenticated',
  branches: 'git_installation_not_found',
  getCommit: 'commit_not_found',
  getDashboardVersion: 'dashboard_version_not_found',
  getModelSyncStatus: 'model_sync_not_found',
  getModelSyncResult: 'model_sync_not_found',
  getGitHostConnection: 'not_connected',
  getGroup: 'group_not_found',
  getGroupMembers: 'group_not_found',
  getOAuthIntegration: 'oauth_integration_not_found',
  getUserOAuthToken: 'oauth_token_not_found',
  getOidcTokenConfig: 'oidc_token_config_not_found',
  listNotificationDeliveries: 'notification_run_not_found',
  previewMerge: 'not_in_dev_mode',
  getWebhook: 'webhook_not_found',
  listWebhookDeliveries: 'webhook_not_found',
  // Pages of people who have signed in by browser.
  appPage: 'unauthenticated',
  appSectionPage: 'unauthenticated',
  appItemPage: 'unauthenticated',
  appPartPage: 'unauthenticated',
  appDetailPage: 'unauthenticated',
  pageAsset: 'asset_not_found',
  repositories: 'git_installation_not_found',
};

test.each(prefilled.map((op) => [op.id, op] as const))(
  '%s works with the values that the reference fills in',
  async (id, op) => {
    const response = await world.raw(op.method, addressWith(op));
    expect(await errorCodeOf(response)).toBe(FOUND_FIRST[id]);
  },
);

test.each(withBody.map((op) => [op.id, op] as const))(
  '%s works as the reference shows it',
  async (id, op) => {
    const { schema, example } = exampleOf(op);
    expect(example).toBeDefined();
    expect(mismatch(schema, example)).toBeUndefined();
    const response = await send(id, await given[id]?.());
    if (REFUSED[id]) return expect(await errorCodeOf(response)).toBe(REFUSED[id]);
    const text = await response.text();
    expect([response.ok, text]).toEqual([true, text]);
    // Some replies are a success although a part of the work failed.
    expect(text).not.toMatch(/"failed":\[\{|"ok":false/);
  },
);

const FORM = 'application/x-www-form-urlencoded';
const takingBoth = withBody.filter((op) => bodyKindOf(op)!.kind === 'formOrJson');

test.each(takingBoth.map((op) => [op.id, op] as const))(
  '%s takes a form as the reference shows it',
  async (id, op) => {
    const { schema, example } = shownOf(op)[FORM]!;
    expect(mismatch(schema, example)).toBeUndefined();
    const { body = {} } = (await given[id]?.()) ?? {};
    const underscored = Object.entries(body).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]);
    const response = await world.raw(op.method, op.path, {
      headers: { 'content-type': FORM },
      body: new URLSearchParams({ ...example, ...Object.fromEntries(underscored) }).toString(),
    });
    expect(await errorCodeOf(response)).toBe(REFUSED[id]);
  },
);

test('the session of the reference sees rows', async () => {
  const body = (await (await send('generateSession')).json()) as object;
  const { token } = (await (await send('postTokenBySessionId', { body })).json()) as { token: string };
  const { data } = (await (await send('load', { token })).json()) as { data: object[] };
  expect(data.length).toBeGreaterThan(0);
});

test('every example is for an operation that takes a body', () => {
  const ids = withBody.map(({ id }) => id);
  expect(Object.keys(bodyExamples).filter((id) => !ids.includes(id))).toEqual([]);
});

test('of many errors, a reply shows those of its operation, and that the request is wrong', () => {
  expect(codesToShow(['invalid_request', 'malformed_json', 'role_not_found'])).toEqual([
    'invalid_request',
    'role_not_found',
  ]);
  expect(codesToShow(['body_too_large', 'malformed_json'])).toEqual(['body_too_large']);
});

test('errors look as the reference shows them', async () => {
  const shown = publishedDocument.components.examples as Record<string, { value: object }>;
  const post = (path: string, body: object) =>
    world.raw('POST', path, {
      apiKey: null,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const replies = {
    invalid_request: await post('/api/v1/embed/session/token', { sessionId: '' }),
    unauthenticated: await post('/api/v1/embed/generate-session', {}),
    role_not_found: await world.raw('GET', '/api/v1/roles/404404'),
  };
  for (const [code, reply] of Object.entries(replies)) {
    const requestId = expect.any(String);
    expect(await reply.json()).toEqual({ ...shown[code]!.value, requestId });
  }
  const inOtherForms = {
    oauth_invalid_grant: await post('/auth/oauth2/refresh', { refreshToken: 'unknown' }),
    scim_user_not_found: await world.raw('GET', '/api/scim/v2/Users/404404'),
    message_deployment_not_found: await world.raw('GET', '/query/api/v1/deployments/404404/meta'),
  };
  for (const [name, reply] of Object.entries(inOtherForms)) {
    expect(await reply.json()).toEqual(shown[name]!.value);
  }
});

test('what the reference fills in for a deletion is nothing of the demo', async () => {
  const deletions = allOperations.filter(({ method, path }) => method === 'DELETE' && path.endsWith('}'));
  const done = await Promise.all(
    deletions.map(async (op) => ((await world.raw('DELETE', addressWith(op))).ok ? [op.id] : [])),
  );
  // These delete what other examples create.
  expect(done.flat().sort()).toEqual(['deleteEmbedTenant', 'deleteEnvVariable']);
});
