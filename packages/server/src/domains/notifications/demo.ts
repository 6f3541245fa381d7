/** One schedule of a dashboard of the demo, switched off. */
import type { DemoStep } from '../../platform/demo.ts';
import { DEMO_DASHBOARDS } from '../dashboards/index.ts';
import { findDemoDashboard, insertNotification } from './store.ts';

export const demoNotification: DemoStep = async ({ tx, adminId, deploymentId }) => {
  const dashboardId = await findDemoDashboard(tx, deploymentId, DEMO_DASHBOARDS[0]!.slug);
  await insertNotification(
    tx,
    { dashboardId, userId: adminId, embedTenant: null },
    {
      name: 'Monday morning',
      scheduleType: 'WEEKLY',
      minute: 0,
      hour: 9,
      dayOfWeek: 1,
      dayOfMonth: null,
      customCron: null,
      timezone: 'Europe/Berlin',
      isEnabled: false,
      notificationEnabled: true,
      notificationFormat: 'png',
      filters: null,
      timeGrains: null,
      allowSubscribe: true,
      condition: null,
      nextDueAt: null,
    },
  );
};
