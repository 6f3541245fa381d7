export { addAdminKey } from './admin-key.ts';
export { requireSecrets } from './command-secrets.ts';
export { demoNoted } from './demo.ts';
export { fingerprintsOf } from './fingerprint.ts';
export { rotateSecret } from './rotate-secret.ts';
export { type FirstAdmin, setUpInstallation } from './set-up.ts';
export { findBackupTimes, findInstallation, noteBackup, updateFingerprint } from './store.ts';
