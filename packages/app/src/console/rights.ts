/** What the person may do, as the server says it. Until it has said so, nothing is offered. */
import { api } from '../data/api.ts';
import { useData } from '../data/cache.ts';
import { useMe } from '../frame/account.ts';
import { isEmbedded } from '../place.ts';

export interface ConsoleRights {
  isKnown: boolean;
  isAdmin: boolean;
  /** Whether the person holds an action in the deployment of the address. */
  may(action: string): boolean;
}

/** The actions each of which opens some page of the console. */
const CONSOLE_ACTIONS = ['AuditLogManage', 'DeploymentUpdate', 'SchemaRead'];

export function useConsoleRights(deploymentId: number | undefined): ConsoleRights {
  const { data: me } = useMe();
  const { data: actions } = useData(
    isEmbedded || deploymentId === undefined ? null : `d/${deploymentId}/actions`,
    async (signal) => (await api.getDeployment({ deploymentId: deploymentId! }, { signal })).actions ?? [],
  );
  return {
    isKnown: me !== undefined && actions !== undefined,
    isAdmin: me?.isAdmin === true,
    may: (action) => me?.isAdmin === true || (actions ?? []).includes(action),
  };
}

export function useHasConsole(deploymentId: number | undefined): boolean {
  const { isAdmin, may } = useConsoleRights(deploymentId);
  return isAdmin || CONSOLE_ACTIONS.some(may);
}
