import type { Action } from '@oriel/contract';

/** What a token is for: any security context, reading what can be queried, or querying as its creator. */
export type Purpose = 'query' | 'meta_sync' | 'own_identity';

/**
 * The action that a person needs to create a token, and that they must still have whenever it is used. A token with any
 * security context shows all data of the deployment, and so does the model to a person who may change it. The contract
 * says the same for each operation.
 */
export const ACTION_FOR: Record<Purpose, Action> = {
  query: 'SchemaUpdate',
  meta_sync: 'SchemaRead',
  own_identity: 'PlaygroundRead',
};

/** What a token allows if the caller does not say. */
const ALL_SCOPES = ['meta', 'data'];
const META_ONLY = ['meta'];

export const scopesOf = (purpose: Purpose, asked: readonly string[] | null | undefined): string[] =>
  purpose === 'meta_sync' ? META_ONLY : [...new Set(asked ?? ALL_SCOPES)];

export const LIFE_SECONDS_DEFAULT = 3600;

/** The number of valid tokens that a deployment can have. */
export const TOKENS_MAX = 10_000;

/** No branch has this id. */
const NO_BRANCH = 0;

/** The id of an environment is the id of its branch, as text. */
export const branchIdOf = (environmentId: string) =>
  /^[1-9]\d{0,14}$/.test(environmentId) ? Number(environmentId) : NO_BRANCH;
