export { type FirstAdmin, setUpInstallation } from './set-up.ts';
