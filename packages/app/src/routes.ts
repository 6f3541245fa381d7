/**
 * The addresses of the app, below `/d/{deploymentId}` for people and `/embed/d/{deploymentId}/app` for creators. The build
 * writes this list into its manifest, so that the server serves the app at these addresses and at no others.
 */
export const ROUTES = {
  home: '',
  recent: '/recent',
  mine: '/mine',
  shared: '/shared',
  folder: '/folders/:folderId',
  workbook: '/workbooks/:workbookId',
  dashboard: '/workbooks/:workbookId/dashboard',
  embed: '/workbooks/:workbookId/embed',
  reportInWorkbook: '/workbooks/:workbookId/reports/:reportId',
  report: '/reports/:reportId',
  explore: '/explore',
  admin: '/admin',
  adminUsers: '/admin/users',
  adminGroups: '/admin/groups',
  adminRoles: '/admin/roles',
  adminApiKeys: '/admin/api-keys',
  adminAttributes: '/admin/attributes',
  adminSignIn: '/admin/sign-in',
  adminQueries: '/admin/queries',
  adminJobs: '/admin/jobs',
  adminUsage: '/admin/usage',
  adminNotices: '/admin/notices',
  adminDeployment: '/admin/deployment',
  adminAuditLog: '/admin/audit-log',
  adminSources: '/admin/sources',
  adminModels: '/admin/models',
  adminPolicies: '/admin/policies',
} as const;

export type RouteName = keyof typeof ROUTES;
