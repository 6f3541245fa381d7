import type { Action } from '@oriel/contract';

/** What an embed token says of who holds it. */
export interface EmbedViewer {
  sessionId: number;
  embedTenant: string;
  creatorMode: boolean;
  /** A user of ours with rights of their own, instead of an external viewer. */
  isInternal: boolean;
}

/** Who calls, with which key, and what they may do. */
export interface Actor {
  userId: number;
  apiKeyId: number | null;
  /** The deployments that the key is scoped to; null for all. */
  deploymentIds: readonly number[] | null;
  /** The actions of all roles of the user. */
  actions: ReadonlySet<Action>;
  /** The actions that policies on deployments give on top, by deployment. */
  deploymentActions: ReadonlyMap<number, ReadonlySet<Action>>;
  /** Null for people and their keys. */
  embed: EmbedViewer | null;
}

/** Callers who share what there is for one: everybody of an embed tenant, and all keys of a user. */
export const sharerOf = ({ embed, userId }: Actor) =>
  embed ? `embed tenant ${embed.embedTenant}` : `user ${userId}`;

/** The caller of a public operation. */
export const ANONYMOUS: Actor = {
  userId: 0,
  apiKeyId: null,
  deploymentIds: [],
  actions: new Set(),
  deploymentActions: new Map(),
  embed: null,
};
