export { createUser } from './create-user.ts';
export { removeUser } from './delete-user.ts';
export { requireRemainingAdmin } from './last-admin.ts';
export { hashPassword } from './passwords.ts';
export { requireUsers } from './require-users.ts';
export { type UserCache, userRoutes } from './routes.ts';
export { ADMIN_ROLE } from './rules.ts';
export { countPeople, isLiving } from './store.ts';
