/**
 * The pages of the console by section, and who finds them. A new page is an address in `routes.ts`, a line in `pages.tsx`, a
 * line here, and its title in `texts/`. The server decides again: what is not listed here is only not offered.
 */
import type { RouteName } from '../routes.ts';
import type { ConsoleRights } from './rights.ts';
import type { say } from './say.ts';

type Key = Parameters<typeof say>[0];

export interface ConsolePageEntry {
  route: ConsoleRoute;
  title: Key;
  isFor(rights: ConsoleRights): boolean;
}

export interface ConsoleSection {
  title: Key;
  pages: readonly ConsolePageEntry[];
}

/** Pages of the console have no parameters in their addresses: what they show of one thing is in the query. */
export type ConsoleRoute = Extract<RouteName, `admin${string}`>;

const entry = (
  route: ConsoleRoute,
  title: Key,
  isFor: (rights: ConsoleRights) => boolean = ({ isAdmin }) => isAdmin,
): ConsolePageEntry => ({ route, title, isFor });

const holding =
  (action: string) =>
  ({ may }: ConsoleRights) =>
    may(action);

export const SECTIONS: readonly ConsoleSection[] = [
  {
    title: 'data',
    pages: [
      entry('adminSources', 'sources', holding('SchemaRead')),
      entry('adminModels', 'models', holding('SchemaRead')),
      entry('adminPolicies', 'policies', holding('SchemaRead')),
    ],
  },
  {
    title: 'people',
    pages: [
      entry('adminUsers', 'users'),
      entry('adminGroups', 'groups'),
      entry('adminRoles', 'roles'),
      entry('adminApiKeys', 'apiKeys'),
      entry('adminAttributes', 'attributes'),
      entry('adminSignIn', 'signInSetUp'),
    ],
  },
  {
    title: 'embedding',
    pages: [
      entry('adminTenants', 'tenants'),
      entry('adminSessions', 'sessions'),
      entry('adminViewer', 'viewer'),
      entry('adminDryRun', 'dryRun'),
      entry('adminEmbedding', 'embedSettings'),
    ],
  },
  {
    title: 'integrations',
    pages: [
      entry('adminGit', 'git', holding('SchemaRead')),
      entry('adminWebhooks', 'webhooks'),
      entry('adminServices', 'services'),
    ],
  },
  {
    title: 'operations',
    pages: [
      entry('adminNotices', 'notices'),
      entry('adminServers', 'servers'),
      entry('adminQueries', 'queries'),
      entry('adminJobs', 'jobs'),
      entry('adminUsage', 'usage'),
      entry('adminDeployments', 'deployments'),
      entry('adminDeployment', 'thisDeployment', holding('DeploymentUpdate')),
      entry('adminAuditLog', 'auditLog', holding('AuditLogManage')),
    ],
  },
];

export const entryOf = (route: ConsoleRoute) =>
  SECTIONS.flatMap(({ pages }) => pages).find((page) => page.route === route);

/** The sections with the pages that this person finds. */
export const sectionsFor = (rights: ConsoleRights): ConsoleSection[] =>
  SECTIONS.map((section) => ({
    ...section,
    pages: section.pages.filter(({ isFor }) => isFor(rights)),
  })).filter(({ pages }) => pages.length > 0);
