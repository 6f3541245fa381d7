import { ApiError } from '../../platform/errors.ts';

/** A self-hosted installation is one region. */
export const LOCAL_REGION = {
  id: 1,
  name: 'local',
  title: 'This installation',
  provider: 'self-hosted',
  isDedicated: true,
  isHybrid: false,
  isPublic: false,
  useAiEngineer: false,
};

export function requireRegion(name: string) {
  if (name === LOCAL_REGION.name) return;
  const message = `There is no region ${JSON.stringify(name)}; this installation has ${JSON.stringify(LOCAL_REGION.name)}.`;
  throw new ApiError('region_not_found', { message, issues: [{ path: 'region', message }] });
}
