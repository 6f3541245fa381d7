import type { Module, Platform } from '../../platform/module.ts';
import { signingKeyRoutes } from './routes.ts';
import { keyRotation, type SigningKeys } from './signing-keys.ts';
import * as store from './store.ts';

export {
  createSigningKeys,
  createWorkloadKeys,
  keyRotation,
  SIGNING_ALGORITHM,
  SIGNING_KEY_COLUMN,
  type SigningKeys,
  WORKLOAD_ALGORITHM,
  WORKLOAD_KEY_COLUMN,
} from './signing-keys.ts';
export const deleteAllSigningKeys = store.signingKeys.deleteAll;
export const deleteAllWorkloadKeys = store.workloadKeys.deleteAll;

export const signingKeys = (_platform: Platform, { keys }: { keys: SigningKeys }): Module => ({
  routes: signingKeyRoutes(keys),
  schedules: [keyRotation('signing-keys.rotate', keys)],
});
