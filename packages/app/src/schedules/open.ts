/** Opens the schedules of a published dashboard. The dialog is loaded when it is first needed. */
import { attempt } from '../parts/toasts.tsx';
import type { ScheduledDashboard } from './words.ts';

export const openSchedules = (scheduled: ScheduledDashboard) =>
  void attempt(async () => {
    const [{ showSchedules }, { say }] = await Promise.all([import('./dialog.tsx'), import('./say.ts')]);
    await say.ready();
    showSchedules(scheduled);
  });
