import type { DemoStep } from '../../platform/demo.ts';
import * as store from './store.ts';

export const demoGroups: DemoStep = async ({ tx }) => {
  await store.insertUserGroup(tx, { name: 'analysts', description: 'Ask questions and build reports' });
  await store.insertUserGroup(tx, { name: 'marketing', description: 'Campaigns and website' });
};
