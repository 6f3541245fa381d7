/** What domains do by the clock. */
import { embedSessionUpkeep } from './domains/embed-sessions/index.ts';
import { auditRetention } from './domains/tenant-settings/index.ts';
import type { Schedule } from './platform/jobs/jobs.ts';

export const upkeep: Schedule[] = [auditRetention, embedSessionUpkeep];
