import { expirySchedule } from '../../platform/jobs/upkeep.ts';
import type { Module, Platform } from '../../platform/module.ts';
import type { Sessions } from '../sessions/index.ts';
import type { DeviceCodes } from './device-codes.ts';
import { deviceCodeRoutes } from './routes.ts';
import { deleteExpiredDevices } from './store.ts';

export { createDeviceCodes, DEVICE_PATH, type DeviceCodes } from './device-codes.ts';
export type { WaitingDevice } from './store.ts';
export { shownUserCode } from './user-codes.ts';

export const deviceCodeUpkeep = expirySchedule('device-codes.delete-expired', 11, [deleteExpiredDevices]);

export const deviceCodes = (
  { publicUrl }: Pick<Platform, 'publicUrl'>,
  devices: DeviceCodes,
  sessions: Sessions,
): Module => ({
  routes: deviceCodeRoutes(devices, sessions, publicUrl),
  schedules: [deviceCodeUpkeep],
});
