/** What the person may do in a deployment. Whatever they may not do is not offered. */
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { isEmbedded } from '../place.ts';

/** In a frame the session decides: whoever sees rows may take them along. */
const EMBEDDED = ['DownloadData'];

export function useMay(deploymentId: number): (action: string) => boolean {
  const { data } = useData(isEmbedded ? null : `d/${deploymentId}/actions`, async (signal) => {
    const { actions } = await api.getDeployment({ deploymentId }, { signal });
    return actions ?? [];
  });
  return (action) => (isEmbedded ? EMBEDDED : (data ?? [])).includes(action);
}
