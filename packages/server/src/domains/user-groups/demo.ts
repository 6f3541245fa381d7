import type { DemoStep } from '../../platform/demo.ts';
import * as store from './store.ts';

export const demoGroups: DemoStep = async ({ tx }) => {
  await store.insertMissingGroup(tx, { name: 'analysts', description: 'Ask questions and build reports' });
  await store.insertMissingGroup(tx, { name: 'marketing', description: 'Campaigns and website' });
};
