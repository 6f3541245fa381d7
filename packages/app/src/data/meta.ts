/** The views and cubes of a deployment. The answer may be asked for while the page that shows it is loaded. */
import { api } from './api.ts';
import { askAhead, useData } from './cache.ts';

const keyOf = (deploymentId: number) => `d/${deploymentId}/meta`;
const load = (deploymentId: number) => (signal: AbortSignal) =>
  api.getQueryMeta({ deploymentId }, { signal });

export const useMeta = (deploymentId: number) => useData(keyOf(deploymentId), load(deploymentId));
export const askForMeta = (deploymentId: number) => askAhead(keyOf(deploymentId), load(deploymentId));
