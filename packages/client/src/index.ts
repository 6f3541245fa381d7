/** What the published package exports; its types are in `scripts/packages/client-types.ts`. */
export type { ErrorCode } from '@oriel/contract';
export { createOrielClient, type OrielClient } from './client.ts';
export { OrielError, OrielTimeoutError } from './error.ts';
export type * from './types.ts';
