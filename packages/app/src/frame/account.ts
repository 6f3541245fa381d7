/** Who uses the app, and which deployments there are. */
import { api } from '../data/api.ts';
import { type Loaded, useData } from '../data/cache.ts';

export type Me = Awaited<ReturnType<typeof api.getMe>>;
export type Deployment = Awaited<ReturnType<typeof api.getDeployments>>['items'][number];

export const useMe = (): Loaded<Me> => useData('me', (signal) => api.getMe({}, { signal }));

export const useDeployments = (): Loaded<Deployment[]> =>
  useData('deployments', async (signal) => (await api.getDeployments({ first: 1000 }, { signal })).items);
