export { addAdminKey } from './admin-key.ts';
export { rotateSecret } from './rotate-secret.ts';
export { type FirstAdmin, setUpInstallation } from './set-up.ts';
