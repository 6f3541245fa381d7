/** Nearly every request is about a deployment: that it exists is remembered until one is deleted. */
import type { Database } from '../../platform/db/database.ts';
import type { NotifiedCache } from '../../platform/db/notified-cache.ts';
import { ApiError } from '../../platform/errors.ts';
import { findDeployment } from './store.ts';

export type KnownDeployments = NotifiedCache<number, true>;

export function deploymentCheck({
  db,
  knownDeployments,
}: {
  db: Database;
  knownDeployments: KnownDeployments;
}) {
  const find = async (id: number): Promise<true> => {
    if (!(await findDeployment(db, id))) throw new ApiError('deployment_not_found');
    return true;
  };
  return (id: number): undefined | Promise<void> =>
    knownDeployments.get(id) ? undefined : knownDeployments.load(id, () => find(id)).then(() => undefined);
}
