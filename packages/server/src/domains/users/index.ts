import type { Module, Platform } from '../../platform/module.ts';
import { removeUser } from './removal.ts';
import { userRoutes } from './routes.ts';

export { hashPassword } from './passwords.ts';
export { ADMIN_ROLE } from './rules.ts';
export { countPeople, isLiving, noteLogins } from './store.ts';
export { createUser, requireRemainingAdmin, requireUsers } from './users.ts';

export const users = (_platform: Platform): Module => ({ routes: userRoutes(), jobs: [removeUser] });
