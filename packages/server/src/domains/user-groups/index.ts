import type { Module, Platform } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import { demoGroups } from './demo.ts';
import { type EmbedGroupOptions, embedGroupRoutes } from './embed-group-routes.ts';
import { userGroupRoutes } from './routes.ts';

export {
  findUserGroup,
  listMembers,
  listUserGroups,
  type MemberRow,
  noteGroupChange,
  type UserGroupRow,
} from './store.ts';
export {
  addMembers,
  createUserGroup,
  deleteUserGroup,
  lockUserGroup,
  removeMembers,
  updateUserGroup,
} from './user-groups.ts';

export const userGroups = (platform: Platform, options: EmbedGroupOptions): Module => ({
  routes: [...userGroupRoutes(platform), ...embedGroupRoutes(platform, options)],
  demo: demoGroups,
  cleanup,
});
