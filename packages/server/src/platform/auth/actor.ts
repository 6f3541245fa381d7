/** Callers, and what they may do. */
import type { Action, Auth, EmbedAccess, Operation } from '@oriel/contract';

export interface Permissions {
  /** The actions of all roles of the user. */
  actions: ReadonlySet<Action>;
  /** The additional actions that policies on deployments give, by deployment. */
  deploymentActions: ReadonlyMap<number, ReadonlySet<Action>>;
}

interface UserPermissions extends Permissions {
  userId: number;
  /** The deployments that the credential is limited to; null for all. */
  deploymentIds: readonly number[] | null;
}

/** A user of the account who calls for themselves. */
export interface Person extends UserPermissions {
  kind: 'person';
  /** The API key that they called with, if they used one. */
  apiKeyId: number | null;
  /** The session of the token or cookie that they called with, if they used one. */
  sessionId: number | null;
  /**
   * True if data is read with this person's rights but for other readers, such as those of a channel. Then no token
   * that the person has at a service is used, because it stands for them alone.
   */
  isReadForOthers?: true;
}

/** What an embed token says about its session. */
export interface EmbedSession {
  sessionId: number;
  embedTenant: string;
  creatorMode: boolean;
  /** What policies see, for readers without a session. For others it is in the session. */
  securityContext?: object | null;
}

/** A user of the account who is embedded in a page: they have their own rights, and see one embed tenant. */
export interface EmbeddedPerson extends UserPermissions {
  kind: 'embeddedPerson';
  embed: EmbedSession;
}

/** A customer's user, who exists only through embed sessions. */
export interface ExternalViewer extends UserPermissions {
  kind: 'externalViewer';
  embed: EmbedSession;
}

/** A caller with a token for one environment of a deployment, who can only query it. */
export interface TokenHolder {
  kind: 'tokenHolder';
  tokenId: number;
  /** The person who made the token. */
  userId: number;
  deploymentId: number;
  /** The branch that is the environment. */
  branchId: number;
  scopes: ReadonlySet<string>;
  /** What policies see as `securityContext`. */
  securityContext: object;
  /** True if policies also see the groups, roles and attributes of the person who made it. */
  isCreator: boolean;
}

/** The caller of a public operation. */
export interface Nobody {
  kind: 'nobody';
}

export type EmbeddedCaller = EmbeddedPerson | ExternalViewer;
export type Caller = Person | EmbeddedCaller;
/** A caller whom a credential identifies. */
export type IdentifiedActor = Caller | TokenHolder;
export type Actor = IdentifiedActor | Nobody;

export const NOBODY: Nobody = { kind: 'nobody' };

export type KeyHolder = Person & { apiKeyId: number };
/** A person who signed in. */
export type SessionHolder = Person & { sessionId: number };

type PersonOr<Embed extends EmbedAccess> = [Exclude<Embed, undefined>] extends [never] ? Person : Caller;

interface CallerByAuth<Embed extends EmbedAccess> {
  public: Nobody;
  management: PersonOr<Embed>;
  query: PersonOr<Embed> | TokenHolder;
  apiKey: KeyHolder;
  embed: EmbeddedCaller;
  console: SessionHolder;
}

/** The type of the callers that can reach the handler of an operation. `authorize` in access.ts refuses all others. */
export type CallerOf<O extends Pick<Operation, 'auth' | 'embed'>> = CallerByAuth<O['embed']>[O['auth']];

const CALLERS: Record<Auth, (actor: Actor) => boolean> = {
  public: (actor) => actor.kind === 'nobody',
  management: (actor) => actor.kind === 'person' || isEmbedded(actor),
  query: (actor) => actor.kind !== 'nobody',
  apiKey: (actor) => actor.kind === 'person' && actor.apiKeyId !== null,
  embed: (actor) => isEmbedded(actor),
  console: (actor) => actor.kind === 'person' && actor.sessionId !== null,
};

/** The run-time form of `CallerOf`, as far as the credential decides it. `authorize` checks the rest, `embed`. */
export const isCallerFor = (auth: Auth, actor: Actor) => CALLERS[auth](actor);

const isEmbedded = (actor: Actor): actor is EmbeddedCaller =>
  actor.kind === 'embeddedPerson' || actor.kind === 'externalViewer';

/** Null for callers who are not embedded in a page. */
export const embedOf = (actor: Actor): EmbedSession | null => (isEmbedded(actor) ? actor.embed : null);

/** How the audit log and log lines name the caller. */
export const identityOf = (actor: Actor) => ({
  userId: actor.kind === 'nobody' ? null : actor.userId,
  apiKeyId: actor.kind === 'person' ? actor.apiKeyId : null,
});

/**
 * Returns the name under which a caller shares connections and memory with others: an embed tenant, all tokens for the
 * environments of a deployment, or all keys of a user.
 */
export function sharerOf(actor: Actor): string {
  if (actor.kind === 'nobody') return 'nobody';
  if (actor.kind === 'tokenHolder') return `tokens for deployment ${actor.deploymentId}`;
  return isEmbedded(actor) ? `embed tenant ${actor.embed.embedTenant}` : `user ${actor.userId}`;
}
