import type { Module, Platform } from '../../platform/module.ts';
import { removeUser } from './delete-user.ts';
import { userRoutes } from './routes.ts';

export { createUser } from './create-user.ts';
export { requireRemainingAdmin } from './last-admin.ts';
export { hashPassword } from './passwords.ts';
export { requireUsers } from './require-users.ts';
export { ADMIN_ROLE } from './rules.ts';
export { countPeople, isLiving } from './store.ts';

export const users = (platform: Platform): Module => ({ routes: userRoutes(platform), jobs: [removeUser] });
