/**
 * Every operation that the specification of Oriel asks for. docs/coverage.md compares this list with the contract and
 * shows which operations are built. The contract may have more.
 */
const list = `
listApiKeys | API Keys | GET /api/v1/api-keys
createApiKey | API Keys | POST /api/v1/api-keys
deleteApiKey | API Keys | DELETE /api/v1/api-keys/{id}
getApiKey | API Keys | GET /api/v1/api-keys/{id}
updateApiKey | API Keys | PUT /api/v1/api-keys/{id}
getAppConfig | App Theme | GET /api/v1/app-config
updateAppConfig | App Theme | PUT /api/v1/app-config
getEmbedAccess | Dashboard Embed Access | GET /api/v1/deployments/{deploymentId}/workbooks/{workbookId}/embed-access
updateEmbedAccess | Dashboard Embed Access | PUT /api/v1/deployments/{deploymentId}/workbooks/{workbookId}/embed-access
listBranches | Data Model | GET /build/api/v1/deployments/{deploymentId}/branches
createBranch | Data Model | POST /build/api/v1/deployments/{deploymentId}/branches
deleteBranch | Data Model | DELETE /build/api/v1/deployments/{deploymentId}/branches
setBranchStagingEnvironment | Data Model | PUT /build/api/v1/deployments/{deploymentId}/branches/staging-environment
commitChanges | Data Model | POST /build/api/v1/deployments/{deploymentId}/commit
discardChanges | Data Model | POST /build/api/v1/deployments/{deploymentId}/discard
removeFiles | Data Model | DELETE /build/api/v1/deployments/{deploymentId}/data-model/files
listFiles | Data Model | GET /build/api/v1/deployments/{deploymentId}/data-model/files
updateFiles | Data Model | PUT /build/api/v1/deployments/{deploymentId}/data-model/files
renameFiles | Data Model | POST /build/api/v1/deployments/{deploymentId}/data-model/files/rename
stopDevMode | Data Model | DELETE /build/api/v1/deployments/{deploymentId}/dev-mode
startDevMode | Data Model | POST /build/api/v1/deployments/{deploymentId}/dev-mode
mergeIntoParentBranch | Data Model | POST /build/api/v1/deployments/{deploymentId}/merge
mergeToDefaultBranch | Data Model | POST /build/api/v1/deployments/{deploymentId}/merge-to-default
listCommits | Data Model | GET /build/api/v1/deployments/{deploymentId}/branches/{name}/commits
getCommit | Data Model | GET /build/api/v1/deployments/{deploymentId}/commits/{hash}
exportBundle | Data Model | GET /build/api/v1/deployments/{deploymentId}/data-model/export.bundle
pull | Data Model | POST /build/api/v1/deployments/{deploymentId}/pull
validateDataModel | Data Model | GET /build/api/v1/deployments/{deploymentId}/data-model/validate
fileHashes | Data Model Uploads | GET /build/api/v1/deployments/{deploymentId}/data-model/file-hashes
uploadFile | Data Model Uploads | POST /build/api/v1/deployments/{deploymentId}/data-model/upload/file
finishUpload | Data Model Uploads | POST /build/api/v1/deployments/{deploymentId}/data-model/upload/finish
startUpload | Data Model Uploads | POST /build/api/v1/deployments/{deploymentId}/data-model/upload/start
createDeployment | Deployment Creation | POST /build/api/v1/deployments
getDeployments | Deployments | GET /api/v1/deployments
deleteDeployment | Deployments | DELETE /api/v1/deployments/{deploymentId}
getDeployment | Deployments | GET /api/v1/deployments/{deploymentId}
updateDeployment | Deployments | PUT /api/v1/deployments/{deploymentId}
buildStatus | Deployments | GET /api/v1/deployments/{deploymentId}/build-status
advanceCreationStep | Deployments | POST /api/v1/deployments/{deploymentId}/creation-step/advance
resetCreationStep | Deployments | POST /api/v1/deployments/{deploymentId}/creation-step/reset
logs | Deployments | GET /api/v1/deployments/{deploymentId}/logs
pods | Deployments | GET /api/v1/deployments/{deploymentId}/pods
getDeploymentSettings | Deployments | GET /api/v1/deployments/{deploymentId}/settings
deploymentToken | Deployments | POST /api/v1/deployments/{deploymentId}/token
listDeploymentVersions | Deployments | GET /api/v1/deployments/{deploymentId}/versions
getDashboard | Embed | GET /api/v1/embed/dashboard/{publicId}
updateDashboardEmbedding | Embed | PATCH /api/v1/embed/dashboard/{publicId}
postDashboardPythonRun | Embed | POST /api/v1/embed/dashboard/{publicId}/python-run
generateSession | Embed | POST /api/v1/embed/generate-session
dryRunSession | Embed | POST /api/v1/embed/generate-session/dry-run
getJwks | Embed | GET /.well-known/jwks.json
getEmbedSession | Embed | GET /api/v1/embed/session
postTokenBySessionId | Embed | POST /api/v1/embed/session/token
listEmbedSessions | Embed | GET /api/v1/embed/sessions
revokeEmbedSessions | Embed | POST /api/v1/embed/sessions/revoke
revokeEmbedSession | Embed | DELETE /api/v1/embed/sessions/{id}
getEmbedSessionEntry | Embed | GET /api/v1/embed/sessions/{id}
listEmbedTenants | Embed Tenants | GET /api/v1/embed-tenants
deleteEmbedTenant | Embed Tenants | DELETE /api/v1/embed-tenants/{embedTenantName}
getGroups | Embed Tenants | GET /api/v1/embed-tenants/{embedTenantName}/groups
createGroup | Embed Tenants | POST /api/v1/embed-tenants/{embedTenantName}/groups
deleteGroup | Embed Tenants | DELETE /api/v1/embed-tenants/{embedTenantName}/groups/{id}
getGroup | Embed Tenants | GET /api/v1/embed-tenants/{embedTenantName}/groups/{id}
updateGroup | Embed Tenants | PATCH /api/v1/embed-tenants/{embedTenantName}/groups/{id}
removeGroupMembers | Embed Tenants | DELETE /api/v1/embed-tenants/{embedTenantName}/groups/{id}/users
getGroupMembers | Embed Tenants | GET /api/v1/embed-tenants/{embedTenantName}/groups/{id}/users
addGroupMembers | Embed Tenants | POST /api/v1/embed-tenants/{embedTenantName}/groups/{id}/users
listEmbedUsers | Embed Tenants | GET /api/v1/embed-tenants/{embedTenantName}/users
getEnvVariables | Env Variables | GET /api/v1/deployments/{deploymentId}/env-vars
setEnvVariables | Env Variables | PUT /api/v1/deployments/{deploymentId}/env-vars
deleteEnvVariable | Env Variables | DELETE /api/v1/deployments/{deploymentId}/env-vars/{name}
getDeploymentEnvironments | Environments | GET /api/v1/deployments/{deploymentId}/environments
getDeploymentEnvironmentTokens | Environments | GET /api/v1/deployments/{deploymentId}/environments/{environmentId}/tokens
createDeploymentEnvironmentToken | Environments | POST /api/v1/deployments/{deploymentId}/environments/{environmentId}/tokens
createDeploymentEnvironmentTokenForMetaSync | Environments | POST /api/v1/deployments/{deploymentId}/environments/{environmentId}/tokens-for-meta-sync
getFolders | Folders | GET /api/v1/deployments/{deploymentId}/folders
createFolder | Folders | POST /api/v1/deployments/{deploymentId}/folders
deleteFolder | Folders | DELETE /api/v1/deployments/{deploymentId}/folders/{folderId}
updateFolder | Folders | PUT /api/v1/deployments/{deploymentId}/folders/{folderId}
getFolderAncestors | Folders | GET /api/v1/deployments/{deploymentId}/folders/{folderId}/ancestors
installations | GitHost | GET /api/v1/git-host/installations
repositories | GitHost | GET /api/v1/git-host/installations/{installationId}/repositories
branches | GitHost | GET /api/v1/git-host/repositories/{owner}/{repo}/branches
status | GitHost | GET /api/v1/git-host/status
connect | GitHost Connection | POST /build/api/v1/deployments/{deploymentId}/git-host/connect
startModelSync | Model Sync | POST /api/v1/deployments/{deploymentId}/model-sync
cancelModelSync | Model Sync | DELETE /api/v1/deployments/{deploymentId}/model-sync/{syncJobId}
getModelSyncStatus | Model Sync | GET /api/v1/deployments/{deploymentId}/model-sync/{syncJobId}
getModelSyncResult | Model Sync | GET /api/v1/deployments/{deploymentId}/model-sync/{syncJobId}/result
getNotifications | Notifications | GET /api/v1/deployments/{deploymentId}/notifications
createNotification | Notifications | POST /api/v1/deployments/{deploymentId}/notifications
deleteNotification | Notifications | DELETE /api/v1/deployments/{deploymentId}/notifications/{id}
getNotification | Notifications | GET /api/v1/deployments/{deploymentId}/notifications/{id}
updateNotification | Notifications | PUT /api/v1/deployments/{deploymentId}/notifications/{id}
removeRecipients | Notifications | DELETE /api/v1/deployments/{deploymentId}/notifications/{id}/recipients
getRecipients | Notifications | GET /api/v1/deployments/{deploymentId}/notifications/{id}/recipients
addRecipients | Notifications | POST /api/v1/deployments/{deploymentId}/notifications/{id}/recipients
listOAuthIntegrations | OAuth Integrations | GET /api/v1/oauth-integrations
createOAuthIntegration | OAuth Integrations | POST /api/v1/oauth-integrations
deleteOAuthIntegration | OAuth Integrations | DELETE /api/v1/oauth-integrations/{id}
getOAuthIntegration | OAuth Integrations | GET /api/v1/oauth-integrations/{id}
updateOAuthIntegration | OAuth Integrations | PUT /api/v1/oauth-integrations/{id}
listOidcTokenConfigs | OIDC Token Configs | GET /api/v1/oidc-token-configs
createOidcTokenConfig | OIDC Token Configs | POST /api/v1/oidc-token-configs
deleteOidcTokenConfig | OIDC Token Configs | DELETE /api/v1/oidc-token-configs/{id}
getOidcTokenConfig | OIDC Token Configs | GET /api/v1/oidc-token-configs/{id}
updateOidcTokenConfig | OIDC Token Configs | PUT /api/v1/oidc-token-configs/{id}
getSpec | OpenAPI Spec | GET /api/v1/spec
listRegions | Regions | GET /api/v1/regions
getReports | Reports | GET /api/v1/deployments/{deploymentId}/reports
createReport | Reports | POST /api/v1/deployments/{deploymentId}/reports
upsertReportByPublicId | Reports | PUT /api/v1/deployments/{deploymentId}/reports/by-public-id/{publicId}
deleteReport | Reports | DELETE /api/v1/deployments/{deploymentId}/reports/{reportId}
getReport | Reports | GET /api/v1/deployments/{deploymentId}/reports/{reportId}
updateReport | Reports | PUT /api/v1/deployments/{deploymentId}/reports/{reportId}
connectReportToWorkbook | Reports | PUT /api/v1/deployments/{deploymentId}/reports/{reportId}/connect-workbook
refreshReport | Reports | PUT /api/v1/deployments/{deploymentId}/reports/{reportId}/refresh
getResourcePolicies | Resource Policies | GET /api/v1/resource-policies
setGroupPolicy | Resource Policies | PUT /api/v1/resource-policies/group
setRolePolicy | Resource Policies | PUT /api/v1/resource-policies/role
setUserPolicy | Resource Policies | PUT /api/v1/resource-policies/user
listRoles | Roles | GET /api/v1/roles
createRole | Roles | POST /api/v1/roles
deleteRole | Roles | DELETE /api/v1/roles/{id}
getRole | Roles | GET /api/v1/roles/{id}
updateRole | Roles | PUT /api/v1/roles/{id}
getTenantSettings | Tenant Settings | GET /api/v1/tenant/settings
updateTenantSettings | Tenant Settings | PUT /api/v1/tenant/settings
upsertUserAttributeValue | User Attribute Values | POST /api/v1/user-attribute-values
getUserAttributeValues | User Attribute Values | GET /api/v1/user-attribute-values/{userId}
getUserAttributes | User Attributes | GET /api/v1/user-attributes
createUserAttribute | User Attributes | POST /api/v1/user-attributes
deleteUserAttribute | User Attributes | DELETE /api/v1/user-attributes/{id}
updateUserAttribute | User Attributes | PUT /api/v1/user-attributes/{id}
listUserGroups | User Groups | GET /api/v1/user-groups
createUserGroup | User Groups | POST /api/v1/user-groups
deleteUserGroup | User Groups | DELETE /api/v1/user-groups/{id}
getUserGroup | User Groups | GET /api/v1/user-groups/{id}
updateUserGroup | User Groups | PUT /api/v1/user-groups/{id}
removeUserGroupMembers | User Groups | DELETE /api/v1/user-groups/{id}/users
getUserGroupMembers | User Groups | GET /api/v1/user-groups/{id}/users
addUserGroupMembers | User Groups | POST /api/v1/user-groups/{id}/users
listUserOAuthTokens | User OAuth Tokens | GET /api/v1/user-oauth-tokens
revokeUserOAuthToken | User OAuth Tokens | DELETE /api/v1/user-oauth-tokens/{integrationId}
getUserOAuthToken | User OAuth Tokens | GET /api/v1/user-oauth-tokens/{integrationId}
initiateOAuthFlow | User OAuth Tokens | POST /api/v1/user-oauth-tokens/{integrationId}/initiate
getMe | Users | GET /api/v1/users/me
createUser | Users Admin | POST /api/v1/users
bulkUserAction | Users Admin | POST /api/v1/users/bulk
deleteUser | Users Admin | DELETE /api/v1/users/{id}
updateUserByPost | Users Admin | POST /api/v1/users/{id}
updateUser | Users Admin | PUT /api/v1/users/{id}
getWorkbooks | Workbooks | GET /api/v1/deployments/{deploymentId}/workbooks
createWorkbook | Workbooks | POST /api/v1/deployments/{deploymentId}/workbooks
upsertWorkbookBySlug | Workbooks | PUT /api/v1/deployments/{deploymentId}/workbooks/by-slug/{slug}
deleteWorkbook | Workbooks | DELETE /api/v1/deployments/{deploymentId}/workbooks/{workbookId}
getWorkbook | Workbooks | GET /api/v1/deployments/{deploymentId}/workbooks/{workbookId}
updateWorkbook | Workbooks | PUT /api/v1/deployments/{deploymentId}/workbooks/{workbookId}
updateWorkbookDashboard | Workbooks | PUT /api/v1/deployments/{deploymentId}/workbooks/{workbookId}/dashboard
updatePublishedDashboardAiWidgetThread | Workbooks | POST /api/v1/deployments/{deploymentId}/workbooks/{workbookId}/dashboard/ai-widget-thread
duplicateWorkbook | Workbooks | POST /api/v1/deployments/{deploymentId}/workbooks/{workbookId}/duplicate
publishDashboard | Workbooks | POST /api/v1/deployments/{deploymentId}/workbooks/{workbookId}/publish
sharedWorkspaceObjects | Workspace | GET /api/v1/deployments/{deploymentId}/shared-workspace
workspaceObjects | Workspace | GET /api/v1/deployments/{deploymentId}/workspace
bulkDeleteWorkspaceObjects | Workspace | POST /api/v1/deployments/{deploymentId}/workspace/bulk-delete
bulkMoveWorkspaceObjects | Workspace | POST /api/v1/deployments/{deploymentId}/workspace/bulk-move
moveWorkspaceObject | Workspace | POST /api/v1/deployments/{deploymentId}/workspace/move
`;

export const expectedOperations = list
  .trim()
  .split('\n')
  .map((line) => {
    const [id, tag, address] = line.split(' | ') as [string, string, string];
    const [method, path] = address.split(' ') as [string, string];
    return { id, tag, method, path };
  });
