import { orderedOperations } from './catalogue.ts';
import { operations } from './operations.gen.ts';

export { type Action, actions, everydayActions, includedIn } from './actions.ts';
export type { AttributeValue } from './attributes.ts';
export { type DashboardOutline, ReportChart } from './dashboards.ts';
export { dataModelLimits } from './data-model.ts';
export { errorCodesOf } from './error-codes.ts';
export { type ErrorShape, errorBodies, errorShapes } from './error-shapes.ts';
export { type ErrorCode, type ErrorDefinition, errorCatalogue } from './errors.ts';
export { gitHostLimits } from './git-hosts.ts';
export * from './kinds.ts';
export { limits, sizeText } from './limits.ts';
export { openApiDocument } from './openapi.ts';
export * from './operation.ts';
export { ErrorReply, type MergeConflict, PageInfo, patternMessages } from './schemas.ts';
export { type ScimPatchOperation, scimLimits, scimUrns } from './scim.ts';
export { PASSWORD_LENGTH } from './sign-in.ts';
export { VISUALIZATION_TYPES, Visualization } from './visualization.ts';
export { type WebhookEvent, webhookEvents } from './webhook-events.ts';
/** Every operation by its id. */
export { operations };

export type Operations = typeof operations;

/** All operations, in the order of their paths. */
export const allOperations = orderedOperations(operations);
