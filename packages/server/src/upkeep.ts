/** What domains do by the clock, and after requests. */
import { removeDeployment } from './domains/deployments/index.ts';
import { embedSessionUpkeep } from './domains/embed-sessions/index.ts';
import { removeTenant } from './domains/embed-tenants/index.ts';
import { emptyFolder, removeFolders } from './domains/folders/index.ts';
import { auditRetention } from './domains/tenant-settings/index.ts';
import { removeUser } from './domains/users/index.ts';
import type { JobKind, Schedule } from './platform/jobs/jobs.ts';

export const upkeep: Schedule[] = [auditRetention, embedSessionUpkeep];

/** What requests leave behind to be removed. */
export const removals: JobKind[] = [removeDeployment, removeFolders, emptyFolder, removeTenant, removeUser];
