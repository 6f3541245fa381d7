// Made by `npm run generate` from the files in `operations`.
import * as apiKeys from './operations/api-keys.ts';
import * as appConfig from './operations/app-config.ts';
import * as deployments from './operations/deployments.ts';
import * as embedSessions from './operations/embed-sessions.ts';
import * as embedTenants from './operations/embed-tenants.ts';
import * as embed from './operations/embed.ts';
import * as folders from './operations/folders.ts';
import * as regions from './operations/regions.ts';
import * as reports from './operations/reports.ts';
import * as resourcePolicies from './operations/resource-policies.ts';
import * as roles from './operations/roles.ts';
import * as spec from './operations/spec.ts';
import * as tenantSettings from './operations/tenant-settings.ts';
import * as userAttributeValues from './operations/user-attribute-values.ts';
import * as userAttributes from './operations/user-attributes.ts';
import * as userGroups from './operations/user-groups.ts';
import * as users from './operations/users.ts';
import * as workbooks from './operations/workbooks.ts';
import * as workspace from './operations/workspace.ts';

export const operations = {
  addGroupMembers: embedTenants.addGroupMembers,
  addUserGroupMembers: userGroups.addUserGroupMembers,
  bulkDeleteWorkspaceObjects: workspace.bulkDeleteWorkspaceObjects,
  bulkMoveWorkspaceObjects: workspace.bulkMoveWorkspaceObjects,
  connectReportToWorkbook: reports.connectReportToWorkbook,
  createApiKey: apiKeys.createApiKey,
  createDeployment: deployments.createDeployment,
  createFolder: folders.createFolder,
  createGroup: embedTenants.createGroup,
  createReport: reports.createReport,
  createRole: roles.createRole,
  createUser: users.createUser,
  createUserAttribute: userAttributes.createUserAttribute,
  createUserGroup: userGroups.createUserGroup,
  createWorkbook: workbooks.createWorkbook,
  deleteApiKey: apiKeys.deleteApiKey,
  deleteDeployment: deployments.deleteDeployment,
  deleteEmbedTenant: embedTenants.deleteEmbedTenant,
  deleteFolder: folders.deleteFolder,
  deleteGroup: embedTenants.deleteGroup,
  deleteReport: reports.deleteReport,
  deleteRole: roles.deleteRole,
  deleteUser: users.deleteUser,
  deleteUserAttribute: userAttributes.deleteUserAttribute,
  deleteUserGroup: userGroups.deleteUserGroup,
  deleteWorkbook: workbooks.deleteWorkbook,
  dryRunSession: embed.dryRunSession,
  duplicateWorkbook: workbooks.duplicateWorkbook,
  generateSession: embed.generateSession,
  getApiKey: apiKeys.getApiKey,
  getAppConfig: appConfig.getAppConfig,
  getDeployment: deployments.getDeployment,
  getDeployments: deployments.getDeployments,
  getEmbedSession: embed.getEmbedSession,
  getEmbedSessionEntry: embedSessions.getEmbedSessionEntry,
  getFolderAncestors: folders.getFolderAncestors,
  getFolders: folders.getFolders,
  getGroup: embedTenants.getGroup,
  getGroupMembers: embedTenants.getGroupMembers,
  getGroups: embedTenants.getGroups,
  getJwks: embed.getJwks,
  getMe: users.getMe,
  getReport: reports.getReport,
  getReports: reports.getReports,
  getResourcePolicies: resourcePolicies.getResourcePolicies,
  getRole: roles.getRole,
  getSpec: spec.getSpec,
  getTenantSettings: tenantSettings.getTenantSettings,
  getUserAttributeValues: userAttributeValues.getUserAttributeValues,
  getUserAttributes: userAttributes.getUserAttributes,
  getUserGroup: userGroups.getUserGroup,
  getUserGroupMembers: userGroups.getUserGroupMembers,
  getWorkbook: workbooks.getWorkbook,
  getWorkbooks: workbooks.getWorkbooks,
  listApiKeys: apiKeys.listApiKeys,
  listEmbedSessions: embedSessions.listEmbedSessions,
  listEmbedTenants: embedTenants.listEmbedTenants,
  listEmbedUsers: embedTenants.listEmbedUsers,
  listRegions: regions.listRegions,
  listRoles: roles.listRoles,
  listUserGroups: userGroups.listUserGroups,
  moveWorkspaceObject: workspace.moveWorkspaceObject,
  postTokenBySessionId: embed.postTokenBySessionId,
  removeGroupMembers: embedTenants.removeGroupMembers,
  removeUserGroupMembers: userGroups.removeUserGroupMembers,
  revokeEmbedSession: embedSessions.revokeEmbedSession,
  revokeEmbedSessions: embedSessions.revokeEmbedSessions,
  setGroupPolicy: resourcePolicies.setGroupPolicy,
  setRolePolicy: resourcePolicies.setRolePolicy,
  setUserPolicy: resourcePolicies.setUserPolicy,
  sharedWorkspaceObjects: workspace.sharedWorkspaceObjects,
  updateApiKey: apiKeys.updateApiKey,
  updateAppConfig: appConfig.updateAppConfig,
  updateFolder: folders.updateFolder,
  updateGroup: embedTenants.updateGroup,
  updateReport: reports.updateReport,
  updateRole: roles.updateRole,
  updateTenantSettings: tenantSettings.updateTenantSettings,
  updateUser: users.updateUser,
  updateUserAttribute: userAttributes.updateUserAttribute,
  updateUserGroup: userGroups.updateUserGroup,
  updateWorkbook: workbooks.updateWorkbook,
  updateWorkbookDashboard: workbooks.updateWorkbookDashboard,
  upsertReportByPublicId: reports.upsertReportByPublicId,
  upsertUserAttributeValue: userAttributeValues.upsertUserAttributeValue,
  upsertWorkbookBySlug: workbooks.upsertWorkbookBySlug,
  workspaceObjects: workspace.workspaceObjects,
};

export const tags = {
  ...apiKeys.tags,
  ...appConfig.tags,
  ...deployments.tags,
  ...embedTenants.tags,
  ...embed.tags,
  ...folders.tags,
  ...regions.tags,
  ...reports.tags,
  ...resourcePolicies.tags,
  ...roles.tags,
  ...spec.tags,
  ...tenantSettings.tags,
  ...userAttributeValues.tags,
  ...userAttributes.tags,
  ...userGroups.tags,
  ...users.tags,
  ...workbooks.tags,
  ...workspace.tags,
};

export const errors = {
  ...apiKeys.errors,
  ...embedSessions.errors,
  ...embedTenants.errors,
  ...embed.errors,
  ...folders.errors,
  ...regions.errors,
  ...reports.errors,
  ...resourcePolicies.errors,
  ...roles.errors,
  ...userAttributeValues.errors,
  ...userAttributes.errors,
  ...userGroups.errors,
  ...users.errors,
  ...workbooks.errors,
  ...workspace.errors,
};
