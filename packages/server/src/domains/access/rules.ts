/** The levels of access to content, and the roles and actions that give them. */
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

export const NOUNS = ['Folder', 'Workbook', 'Report'] as const;
export type Noun = (typeof NOUNS)[number];

/** A user who works with the content of one deployment. */
export interface Viewer {
  userId: number;
  deploymentId: number;
  /** The level that roles, and policies on the deployment, give on every resource of a kind. */
  levels: Record<Noun, Level>;
  /** Whether they may create content. Putting something at the root needs this too. */
  mayCreate: boolean;
  /** The only embed tenant whose content exists for this user; null for people, who are in no embed session. */
  embedTenant: string | null;
  /** Whether the viewer sees the names of people, groups and roles, and not only their ids. */
  seesNames: boolean;
  /** External users share everything in their embed tenant, and do not see the roles of the account. */
  isExternal: boolean;
}

/**
 * The viewer for questions about a folder or workbook together with everything in it. A role with actions on folders alone
 * does not reach what lies in them; owners of the folder, and policies on it, do.
 */
export const withContent = (viewer: Viewer): Viewer => {
  const { Folder, Workbook, Report } = viewer.levels;
  const inWorkbooks = Workbook < Report ? Workbook : Report;
  const inFolders = Folder < inWorkbooks ? Folder : inWorkbooks;
  return { ...viewer, levels: { Folder: inFolders, Workbook: inWorkbooks, Report } };
};

export const actionFor = (noun: Noun, level: Exclude<Level, 0>): Action =>
  `${noun}${({ 1: 'Read', 2: 'Edit', 3: 'Manage' } as const)[level]}`;

/** The level that an action gives on a resource of this kind; `NONE` if the action is about another kind. */
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

/** An upsert sets the keys of `meta` that it gives, and keeps the others. An update replaces `meta`. */
export const withMergedMeta = <Given extends { meta?: object | null }>(
  before: { meta: object | null },
  given: Given,
): Given => (given.meta ? { ...given, meta: { ...before.meta, ...given.meta } } : given);

/** A caller who may list the people, groups and roles of the account sees the names of all of them. */
export const maySeeNames = (actor: Caller) => may(actor, 'All');

/**
 * Returns the embed tenant whose content a list shows, or null for the main workspace. An embedded user sees only their
 * own embed tenant. From outside, only admins can look into an embed tenant.
 */
export function embedTenantOf(actor: Caller, asked?: string | null): string | null {
  const own = embedOf(actor)?.embedTenant ?? null;
  if (asked == null || asked === own) return own;
  if (own !== null || !may(actor, 'All')) throw new ApiError('forbidden');
  return asked;
}
