import type { AskLeftovers } from '../../platform/leftovers.ts';
import type { Module, Platform } from '../../platform/module.ts';
import { leftovers } from './leftovers.store.ts';
import { createUserRemoval } from './removal.ts';
import { userRoutes } from './routes.ts';

export { hashPassword, verifyPassword } from './passwords.ts';
export { ADMIN_ROLE } from './rules.ts';
export { countPeople, isLiving, noteLogins, noteSignIn, uncountUsersOf, updatePassword } from './store.ts';
export { createUser, requireRemainingAdmin, requireUsers } from './users.ts';

export function users(platform: Platform, options: { leftovers: AskLeftovers }): Module {
  const removal = createUserRemoval(options.leftovers);
  return { routes: userRoutes(platform, removal), jobs: removal.jobs, leftovers };
}
