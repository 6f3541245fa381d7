/** Who may do how much with content: the levels, and what gives them. */
import type { Action } from '@oriel/contract';
import { may, mayIn } from '../../platform/auth/access.ts';
import { type Caller, embedOf } from '../../platform/auth/actor.ts';
import { ApiError } from '../../platform/errors.ts';

/** Manage implies edit implies read. */
export const NONE = 0;
export const READ = 1;
export const EDIT = 2;
export const MANAGE = 3;
export type Level = typeof NONE | typeof READ | typeof EDIT | typeof MANAGE;

export type Noun = 'Folder' | 'Workbook' | 'Report';

/** Somebody who looks at the content of one deployment. */
export interface Viewer {
  userId: number;
  deploymentId: number;
  /** What roles, and policies on the deployment, give on every resource of a kind. */
  levels: Record<Noun, Level>;
  /** Whether they may make things, which is also what putting something at the root needs. */
  mayCreate: boolean;
  /** The embed tenant outside of which nothing exists for them; null for people. */
  embedTenant: string | null;
  /** Whether they see the names of people, groups and roles that were shared with by id alone. */
  seesNames: boolean;
  /** Somebody else's customer: they share all of their embed tenant, and are not told of the account's roles. */
  isExternal: boolean;
}

export const actionFor = (noun: Noun, level: Exclude<Level, 0>): Action =>
  `${noun}${({ 1: 'Read', 2: 'Edit', 3: 'Manage' } as const)[level]}`;

/** The level that an action gives on a resource of its own kind; none where it is about something else. */
export function levelOf(noun: Noun, action: Action): Level {
  for (const level of [MANAGE, EDIT, READ] as const) if (action === actionFor(noun, level)) return level;
  return NONE;
}

function levelByRole(actor: Caller, deploymentId: number, noun: Noun): Level {
  for (const level of [MANAGE, EDIT, READ] as const) {
    if (mayIn(actor, deploymentId, actionFor(noun, level))) return level;
  }
  return NONE;
}

export const viewerOf = (actor: Caller, deploymentId: number): Viewer => ({
  userId: actor.userId,
  deploymentId,
  levels: {
    Folder: levelByRole(actor, deploymentId, 'Folder'),
    Workbook: levelByRole(actor, deploymentId, 'Workbook'),
    Report: levelByRole(actor, deploymentId, 'Report'),
  },
  mayCreate: mayIn(actor, deploymentId, 'AIBIExplore'),
  embedTenant: embedOf(actor)?.embedTenant ?? null,
  seesNames: maySeeNames(actor),
  isExternal: actor.kind === 'externalViewer',
});

/** Whether they may list the people, groups and roles of the account, and so see the names of all of them. */
export const maySeeNames = (actor: Caller) => may(actor, 'All');

/**
 * Whose content a list is of: null for the main workspace. Who is embedded has only their own embed tenant's, and only
 * admins look into one from outside.
 */
export function embedTenantOf(actor: Caller, asked?: string | null): string | null {
  const own = embedOf(actor)?.embedTenant ?? null;
  if (asked == null || asked === own) return own;
  if (own !== null || !may(actor, 'All')) throw new ApiError('forbidden');
  return asked;
}
