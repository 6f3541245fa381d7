import type { Module } from '../../platform/module.ts';
import type { BranchLock, EnqueueBuild } from '../data-models/index.ts';
import { cleanup } from './cleanup.store.ts';
import { uploadRoutes } from './routes.ts';
import { uploadSchedules } from './upkeep.ts';

export { requireSettings, uploadBranch } from './uploads.ts';

export interface UploadOptions {
  enqueueBuild: EnqueueBuild;
  branchTurns: BranchLock;
}

export const uploads = ({ enqueueBuild, branchTurns }: UploadOptions): Module => ({
  routes: uploadRoutes(enqueueBuild, branchTurns),
  schedules: uploadSchedules,
  cleanup,
});
