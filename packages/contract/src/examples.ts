/**
 * A working body for each operation that takes one, for the reference at `/docs`. With the demo, most of them work as
 * they are, and the others need what `reference-examples.test.ts` makes before it sends them. An operation that is not
 * here has `examples` in its schema.
 */

const query = {
  measures: ['orders.count'],
  dimensions: ['orders.status'],
  timeDimensions: [{ dimension: 'orders.ordered_at', granularity: 'month', dateRange: 'last year' }],
};
const members = { members: [{ externalId: 'customer-42' }] };
const onBranch = { branchName: 'feature/regions' };
const session = {
  deploymentId: 1,
  externalId: 'customer-42',
  embedTenantName: 'acme-corp',
  groups: ['analysts'],
  userAttributes: [{ name: 'region', value: 'EU' }],
};
const report = {
  name: 'Orders by status',
  description: 'How many orders are in each status, month by month',
  jsonQuery: JSON.stringify(query),
  meta: { chart: { kind: 'table' } },
};
const token = { security_context: { customer: { id: 42 } }, expires_in: 600 };
const SCIM = 'urn:ietf:params:scim:';
const scimUser = (userName: string) => ({
  schemas: [`${SCIM}schemas:core:2.0:User`],
  userName,
  name: { givenName: 'Grace', familyName: 'Hopper' },
  emails: [{ value: userName, type: 'work', primary: true }],
  active: true,
});
const scimGroup = (displayName: string) => ({
  schemas: [`${SCIM}schemas:core:2.0:Group`],
  displayName,
  members: [{ value: '1' }],
});
const scimPatch = (operation: object) => ({
  schemas: [`${SCIM}api:messages:2.0:PatchOp`],
  Operations: [operation],
});
const scimSearch = (filter: string) => ({
  schemas: [`${SCIM}api:messages:2.0:SearchRequest`],
  filter,
  count: 10,
});
const policy = { resourceType: 'Folder', resourceId: 1, action: 'FolderRead' };
const widget = {
  id: 'welcome',
  type: 'TEXT',
  position: { x: 0, y: 0, w: 12, h: 2 },
  config: { markdown: 'Figures of **this month**.' },
};
const dashboard = { kind: 'CLASSIC', title: 'Overview', widgets: [widget] };
const password = 'correct horse battery staple';

/** Examples of parameters, where the demo has nothing by the example of the schema. */
export const parameterExamples: Record<string, Record<string, unknown>> = {
  getScimResourceType: { id: 'User' },
  getScimSchema: { id: `${SCIM}schemas:core:2.0:User` },
  getScimUser: { id: '1' },
  listCommits: { name: 'main' },
  // The first report of the dashboard DemoCommerce.
  refreshReport: { reportId: 325 },
};

export const bodyExamples: Record<string, unknown> = {
  addGroupMembers: members,
  removeGroupMembers: members,
  addUserGroupMembers: { userIds: [1] },
  removeUserGroupMembers: { userIds: [1] },
  advanceCreationStep: { creationStep: 'ready' },
  bulkDeleteWorkspaceObjects: { items: [{ id: 1, type: 'REPORT' }] },
  bulkMoveWorkspaceObjects: { items: [{ id: 2, type: 'REPORT' }], folderId: 1 },
  bulkUserAction: { action: 'DEACTIVATE', userIds: [2] },
  changeMyPassword: { currentPassword: password, newPassword: 'a longer and a better pass phrase' },
  commitChanges: { ...onBranch, message: 'Add regions' },
  connectReportToWorkbook: {
    externalWorkbookId: 'budget-2026',
    resultLocation: 'Sheet1!A1',
    endResultCell: 'Sheet1!D20',
  },
  createApiKey: { name: 'Backend', deploymentIds: [1] },
  createBranch: { name: 'feature/regions', activate: true },
  createDeployment: {
    name: 'Production',
    cloudProvider: 'managed',
    creationStep: 'ready',
    isManaged: true,
    region: 'local',
    targetPlatform: 'embedded',
  },
  createDeploymentEnvironmentToken: token,
  createDeploymentEnvironmentTokenForMetaSync: token,
  createDeviceCode: { clientId: 'my-command-line-tool' },
  createFolder: { name: 'Board meetings' },
  createGroup: { name: 'managers', description: 'Approve budgets' },
  createReport: report,
  createResetLink: { expiresInSeconds: 3600 },
  createRole: { name: 'Auditor', description: 'Reads everything', actions: ['DeploymentRead', 'ReportRead'] },
  createScimGroup: scimGroup('Engineers'),
  createScimUser: scimUser('grace@example.com'),
  createUser: { username: 'ada', email: 'ada@example.com', firstName: 'Ada', roles: ['Explorer'] },
  createUserAttribute: { name: 'country', type: 'string', displayName: 'Country', defaultValue: 'AT' },
  createUserGroup: { name: 'finance', description: 'Closes the books' },
  createWorkbook: { name: 'Monthly close' },
  discardChanges: onBranch,
  dryRunQuery: { query },
  dryRunSession: session,
  duplicateWorkbook: { shared: false },
  exchangeDeviceCode: {
    grantType: 'urn:ietf:params:oauth:grant-type:device_code',
    deviceCode: 'the `deviceCode` of `createDeviceCode`',
    clientId: 'my-command-line-tool',
  },
  explainQuery: { query, viewer: { groups: ['analysts'], userAttributes: { region: 'EU' } } },
  finishUpload: {
    transaction: { id: 'the `transaction` of `startUpload`' },
    files: { 'model/cubes/regions.yml': { hash: '0da8cd44695c0b648ac66224ef9585e75a4ecc32' } },
    commitMessage: 'Add regions',
    autoRemoveFiles: false,
  },
  generateDataModel: { ...onBranch, tables: [{ name: 'orders' }] },
  generateSession: session,
  load: { query },
  login: { email: 'ada@example.com', password },
  logout: { everywhere: false },
  mergeIntoParentBranch: { ...onBranch, message: 'Add regions' },
  mergeToDefaultBranch: { ...onBranch, message: 'Add regions' },
  moveWorkspaceObject: { id: 3, type: 'REPORT', folderId: 1 },
  patchScimGroup: scimPatch({ op: 'add', path: 'members', value: [{ value: '1' }] }),
  patchScimUser: scimPatch({ op: 'replace', path: 'active', value: false }),
  previewReport: {
    jsonQuery: report.jsonQuery,
    meta: { visualization: { type: 'column', fields: { color: 'orders.status' } } },
  },
  postDashboardPythonRun: {
    reportId: 1,
    reportVersionId: 1,
    sqlQuery: 'select status, measure(count) from orders group by 1',
  },
  postQueryMeta: { onlyViews: true },
  postTokenBySessionId: { sessionId: 'the `sessionId` of `generateSession`' },
  publishDashboard: { config: dashboard, allowEmbed: true, note: 'Adds revenue by month' },
  previewDashboardReports: { reportIds: [1] },
  createDashboardPreview: {
    viewer: { embedTenantName: 'acme-corp', externalId: 'customer-42', userAttributes: { region: 'EU' } },
  },
  updateDashboardPresence: { tab: '5f0c6e0e-7f0a-4d8e-9d1a-1f6d6a0f3c11', widgetId: 'welcome' },
  loadDashboardPreview: { previewId: 'the `previewId` of `createDashboardPreview`', query: [query] },
  pull: { branchName: 'main' },
  queryDataSource: { query: 'select 1 as one' },
  querySql: { query },
  refreshTokens: { refreshToken: 'the newest `refreshToken`', clientId: 'my-command-line-tool' },
  removeFiles: { ...onBranch, files: [{ path: 'model/cubes/regions.yml' }] },
  renameFiles: {
    ...onBranch,
    files: [{ path: 'model/cubes/regions.yml', newPath: 'model/cubes/areas.yml' }],
  },
  replaceScimGroup: scimGroup('Engineering'),
  replaceScimUser: scimUser('grace.hopper@example.com'),
  revokeEmbedSessions: { embedTenantName: 'acme-corp' },
  runSql: { query: 'select status, measure(count) from orders group by 1' },
  searchScimGroups: scimSearch('displayName sw "a"'),
  searchScimUsers: scimSearch('meta.created gt "2026-01-01T00:00:00Z"'),
  setBranchStagingEnvironment: { ...onBranch, enabled: true },
  setEnvVariables: { env_variables: [{ name: 'SAMPLE_DB_HOST', value: 'db.example.com' }] },
  setGroupPolicy: { ...policy, groupId: 1 },
  setRolePolicy: { ...policy, roleId: 1 },
  setUserPolicy: { ...policy, userId: 1 },
  startDevMode: onBranch,
  startUpload: { ...onBranch, live: true },
  subscribe: { query },
  updateApiKey: { name: 'Backend of the shop' },
  updateAppConfig: { embedding: { locale: 'de-AT', timezone: 'Europe/Vienna' } },
  updateDashboardEmbedding: { allowEmbed: true },
  updateDeployment: { name: 'Production in Vienna', deployBranchReadOnly: false },
  updateEmbedAccess: { embedTenantName: 'acme-corp', action: 'read' },
  updateFiles: { ...onBranch, files: [{ path: 'model/cubes/regions.yml', content: 'cubes: []\n' }] },
  updateFolder: { name: 'Board' },
  updateGroup: { description: 'Approve budgets and holidays' },
  updateMe: { firstName: 'Ada', notifications: ['digest'] },
  updatePublishedDashboardAiWidgetThread: { widgetId: 'assistant', threadId: 'thread-7' },
  updateReport: { title: 'Orders by status, month by month' },
  updateRole: { actions: ['DeploymentRead', 'ReportRead', 'WorkbookRead'] },
  updateTenantSettings: { auditLogRetentionDays: 365 },
  updateUser: { firstName: 'Ada', title: 'Analyst' },
  updateUserByPost: { firstName: 'Ada', title: 'Analyst' },
  updateUserAttribute: { displayName: 'Home country' },
  updateUserGroup: { description: 'Closes the books every month' },
  updateWorkbook: { name: 'Monthly close 2026' },
  updateWorkbookDashboard: { dashboardDraft: dashboard },
  startModelSync: { branchName: 'dbt-sync' },
  updateModelSyncSource: { kind: 'manifest', select: ['tag:mart'], namePrefix: 'dbt_' },
  uploadModelSyncManifest: {
    manifest:
      '{"metadata":{"dbt_schema_version":"https://schemas.getdbt.com/dbt/manifest/v12.json"},"nodes":{}}',
  },
  testGitHostInstallation: { repository: 'acme/model' },
  uploadFile: {
    transaction: 'the `transaction.id` of `startUpload`',
    fileName: 'model/cubes/regions.yml',
    file: 'cubes: []\n',
  },
  upsertReportByPublicId: report,
  upsertUserAttributeValue: { userAttributeId: 1, userId: 1, value: 'EU' },
  upsertWorkbookBySlug: { name: 'Monthly close' },
};
