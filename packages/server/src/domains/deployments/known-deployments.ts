/** Nearly every request names a deployment. The server remembers that a deployment exists until it is deleted. */
import { found } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import { findDeployment } from './store.ts';

/** Rejects if the deployment does not exist. Returns undefined at once, not a promise, if it is known to exist. */
export type RequireDeployment = (id: number) => undefined | Promise<void>;

export function createRequireDeployment({
  essential,
  createCache,
}: Pick<Platform, 'essential' | 'createCache'>): RequireDeployment {
  const cache = createCache<number, true>((id) => [`deployment:${id}`]);
  const find = async (id: number): Promise<true> => {
    found(await findDeployment(essential, id), 'deployment_not_found');
    return true;
  };
  return (id) => (cache.get(id) ? undefined : cache.load(id, () => find(id)).then(() => undefined));
}
