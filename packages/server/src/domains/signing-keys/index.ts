import type { Module, Platform } from '../../platform/module.ts';
import { signingKeyRoutes } from './routes.ts';
import { type SigningKeys, signingKeyRotation } from './signing-keys.ts';

export {
  createSigningKeys,
  SIGNING_ALGORITHM,
  SIGNING_KEY_COLUMN,
  type SigningKeys,
} from './signing-keys.ts';
export { deleteAllSigningKeys } from './store.ts';

export const signingKeys = (_platform: Platform, { keys }: { keys: SigningKeys }): Module => ({
  routes: signingKeyRoutes(keys),
  schedules: [signingKeyRotation(keys)],
});
