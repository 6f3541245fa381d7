/** What the person may do in a deployment. Whatever they may not do is not offered. */
import { appConfig } from '../creator/session.ts';
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { hostAllowsExport, isEmbedded } from '../place.ts';

export function useMay(deploymentId: number): (action: string) => boolean {
  const { data } = useData(isEmbedded ? null : `d/${deploymentId}/actions`, async (signal) => {
    const { actions } = await api.workspaceRights({ deploymentId }, { signal });
    return actions;
  });
  // Creators have no actions: the session and the host's address decide.
  if (isEmbedded) return (action) => action === 'DownloadData' && hostAllowsExport;
  return (action) => (data ?? []).includes(action as (typeof data & object)[number]);
}

/** Which SQL of a question is shown: that over the model, and that of the data source. */
export function useSqlShown(deploymentId: number): { isSemantic: boolean; isGenerated: boolean } {
  const may = useMay(deploymentId);
  if (!isEmbedded) return { isSemantic: true, isGenerated: may('SchemaRead') };
  const { showSemanticSql, showGeneratedSql } = appConfig.value?.creatorMode ?? {};
  return { isSemantic: showSemanticSql === true, isGenerated: showGeneratedSql === true };
}
