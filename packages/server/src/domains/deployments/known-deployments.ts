/** Nearly every request is about a deployment, so that one exists is remembered until it is deleted. */
import { found } from '../../platform/errors.ts';
import type { Platform } from '../../platform/module.ts';
import { findDeployment } from './store.ts';

/** Throws or rejects if there is no such deployment. Returns nothing, and at once, if it is known to exist. */
export type RequireDeployment = (id: number) => undefined | Promise<void>;

export interface KnownDeployments {
  require: RequireDeployment;
  /** For a deployment that this server itself has just deleted. */
  forget(id: number): void;
}

export function createKnownDeployments({
  essential,
  remember,
}: Pick<Platform, 'essential' | 'remember'>): KnownDeployments {
  const known = remember<number, true>((id) => [`deployment:${id}`]);
  const find = async (id: number): Promise<true> => {
    found(await findDeployment(essential, id), 'deployment_not_found');
    return true;
  };
  return {
    require: (id) => (known.get(id) ? undefined : known.load(id, () => find(id)).then(() => undefined)),
    forget: (id) => known.forget(id),
  };
}
