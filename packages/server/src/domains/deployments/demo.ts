import type { DemoStep } from '../../platform/demo.ts';
import { LOCAL_REGION } from '../regions/index.ts';
import * as store from './store.ts';

/** The deployment that holds all other demo content. It always has the id 1. */
export const demoDeployment: DemoStep = async ({ tx, adminId }) => {
  await store.restartDeploymentIds(tx);
  await store.insertDeployment(tx, {
    name: 'Acme Commerce',
    region: LOCAL_REGION.name,
    cloudProvider: 'managed',
    creationMethod: 'managed',
    creationStep: 'ready',
    deployMode: 'git',
    isManaged: true,
    targetPlatform: 'embedded',
    createdBy: adminId,
  });
};
