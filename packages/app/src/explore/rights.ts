/** What the person may do in a deployment. Whatever they may not do is not offered. */
import { appConfig } from '../creator/session.ts';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { isEmbedded } from '../place.ts';

/** In a frame the session decides: whoever sees rows may take them along. The app configuration decides about SQL. */
const mayEmbedded = (action: string) =>
  action === 'DownloadData' || (action === 'SchemaRead' && showsGeneratedSql());

const showsGeneratedSql = () => appConfig.value?.creatorMode?.showGeneratedSql === true;

/** Whether what is asked is shown as a query, apart from the SQL of the data source. */
export const showsQuery = () => !isEmbedded || appConfig.value?.creatorMode?.showSemanticSql === true;

export function useMay(deploymentId: number): (action: string) => boolean {
  const { data } = useData(isEmbedded ? null : `d/${deploymentId}/actions`, async (signal) => {
    const { actions } = await api.getDeployment({ deploymentId }, { signal });
    return actions ?? [];
  });
  return (action) => (isEmbedded ? mayEmbedded(action) : (data ?? []).includes(action));
}
