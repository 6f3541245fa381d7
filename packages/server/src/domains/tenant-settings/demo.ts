import type { DemoStep } from '../../platform/demo.ts';
import * as store from './store.ts';

export const demoTenantSettings: DemoStep = async ({ tx, isFirst }) => {
  // Later it is the admins' choice.
  if (!isFirst) return;
  const settings = await store.lockTenantSettings(tx);
  await store.updateTenantSettings(tx, { ...settings, useCreatorMode: true });
};
