export { addAdminKey } from './admin-key.ts';
export { type FirstAdmin, setUpInstallation } from './set-up.ts';
