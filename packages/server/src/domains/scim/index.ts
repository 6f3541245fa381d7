import type { Module, Platform } from '../../platform/module.ts';
import type { UserRemoval } from '../users/index.ts';
import { scimDiscoveryRoutes } from './discovery-routes.ts';
import { scimGroupRoutes } from './group-routes.ts';
import { scimUserRoutes } from './user-routes.ts';

export const scim = (
  { publicUrl }: Pick<Platform, 'publicUrl'>,
  { removal }: { removal: UserRemoval },
): Module => {
  const baseUrl = `${publicUrl}/api/scim/v2`;
  return {
    routes: [
      ...scimUserRoutes(baseUrl, removal),
      ...scimGroupRoutes(baseUrl),
      ...scimDiscoveryRoutes(baseUrl, `${publicUrl}/docs`),
    ],
  };
};
