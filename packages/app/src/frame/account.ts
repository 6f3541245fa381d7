/** Who uses the app, and which deployments there are. */
import { api } from '../data/api.ts';
import { assume, type LoadState, useData } from '../data/cache.ts';
import { problemOf } from '../data/problem.ts';
import { isEmbedded } from '../place.ts';

export type Me = Awaited<ReturnType<typeof api.getMe>>;
const DEPLOYMENTS = 'deployments';

export type Deployment = Awaited<ReturnType<typeof api.getDeployments>>['items'][number];

/** The signed-in person; not loaded in a frame, where the session names the viewer. */
export const useMe = (isWanted = true): LoadState<Me> =>
  useData(isWanted && !isEmbedded ? 'me' : null, (signal) => api.getMe({}, { signal }));

export const useDeployments = (): LoadState<Deployment[]> =>
  useData(isEmbedded ? null : DEPLOYMENTS, async (signal) => {
    try {
      return (await api.getDeployments({ first: 1000 }, { signal })).items;
    } catch (error) {
      // A person who may read no deployment still has an account page.
      if (problemOf(error).kind === 'forbidden') return [];
      throw error;
    }
  });

/** The one that was deleted, so that the first page leads to another. */
export const forgetDeployment = (deletedId: number) =>
  assume<Deployment[]>(DEPLOYMENTS, (known) => known.filter(({ id }) => id !== deletedId));
