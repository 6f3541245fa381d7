import * as apiKeys from './api-keys.ts';
import * as appConfig from './app-config.ts';
import * as deployments from './deployments.ts';
import * as embed from './embed.ts';
import * as embedSessions from './embed-sessions.ts';
import * as embedTenants from './embed-tenants.ts';
import * as folders from './folders.ts';
import type { Operation } from './operation.ts';
import * as regions from './regions.ts';
import * as reports from './reports.ts';
import * as resourcePolicies from './resource-policies.ts';
import * as roles from './roles.ts';
import * as spec from './spec.ts';
import * as tenantSettings from './tenant-settings.ts';
import * as userAttributeValues from './user-attribute-values.ts';
import * as userAttributes from './user-attributes.ts';
import * as userGroups from './user-groups.ts';
import * as users from './users.ts';
import * as workbooks from './workbooks.ts';
import * as workspace from './workspace.ts';

export { type Action, actions } from './actions.ts';
export type { AttributeValue } from './attributes.ts';
export { type ErrorCode, errorCatalogue } from './errors.ts';
export { limits } from './limits.ts';
export { openApiDocument } from './openapi.ts';
export * from './operation.ts';
export { ErrorReply, PageInfo, patternMessages } from './schemas.ts';

/** Every operation by its id. */
export const operations = {
  ...deployments,
  ...regions,
  ...users,
  ...apiKeys,
  ...roles,
  ...userGroups,
  ...userAttributes,
  ...userAttributeValues,
  ...tenantSettings,
  ...appConfig,
  ...embedTenants,
  ...resourcePolicies,
  ...folders,
  ...workbooks,
  ...reports,
  ...workspace,
  ...embed,
  ...embedSessions,
  ...spec,
};

export type Operations = typeof operations;
export type OperationId = keyof Operations;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const address = (op: Operation) => `${op.path} ${METHODS.indexOf(op.method)}`;

/** In the order of their paths. */
export const allOperations: readonly Operation[] = (Object.values(operations) as unknown as Operation[]).sort(
  (a, b) => (address(a) < address(b) ? -1 : 1),
);
