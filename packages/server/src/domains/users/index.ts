export { createUser } from './create-user.ts';
export { generatePassword, hashPassword } from './passwords.ts';
export { type UserCache, userRoutes } from './routes.ts';
export { ADMIN_ROLE } from './rules.ts';
export { countUsers } from './store.ts';
