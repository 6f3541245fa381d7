import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import { meRoutes } from './me-routes.ts';
import type { UserRemoval } from './removal.ts';
import { type Invite, userRoutes } from './routes.ts';

export { isEasyPassword } from './easy-passwords.ts';
export { listPeople, type PeopleFilter } from './list.store.ts';
export { hashNewPassword, hashPassword, verifyPassword } from './passwords.ts';
export { createUserRemoval, type UserRemoval } from './removal.ts';
export { ADMIN_ROLE, DEFAULT_ROLE, requireReadableUsername } from './rules.ts';
export {
  countPeople,
  hasPassword,
  isLiving,
  isPerson,
  lockSigningIn,
  lockUser,
  type NewUser,
  noteLogins,
  noteSignIn,
  shownName,
  type UserRow,
  uncountUsersOf,
  usernameKey,
} from './store.ts';
export {
  createUser,
  findPerson,
  lockPerson,
  removePassword,
  requireRemainingAdmin,
  requireUsers,
  setPassword,
  updateUser,
} from './users.ts';

export const users = (
  platform: Platform,
  { removal, invite }: { removal: UserRemoval; invite: Invite },
): Module => ({
  routes: [...userRoutes(platform, { removal, invite }), ...meRoutes(platform)],
  jobs: removal.jobs,
  cleanup,
});
