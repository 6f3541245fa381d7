import type { DemoStep } from '../../platform/demo.ts';
import { LOCAL_REGION } from '../regions/index.ts';
import * as store from './store.ts';

/** The deployment that holds all other demo content. In an empty database it always has the id 1. */
export const demoDeployment: DemoStep = async (context) => {
  const { tx, adminId, isFirst } = context;
  if (isFirst) await store.restartDeploymentIds(tx);
  const { id } = await store.insertDeployment(tx, {
    name: 'Acme Commerce',
    region: LOCAL_REGION.name,
    cloudProvider: 'managed',
    creationMethod: 'managed',
    creationStep: 'ready',
    deployMode: 'git',
    isManaged: true,
    targetPlatform: 'embedded',
    createdBy: adminId,
    isDemo: true,
  });
  context.deploymentId = id;
};
