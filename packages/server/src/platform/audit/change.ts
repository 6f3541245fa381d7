/**
 * Changes and their audit entries. An operation that the contract marks as audited can only return a reply that
 * `change` made, so that every change has an entry in the same transaction.
 */
import { type Actor, identityOf } from '../auth/actor.ts';
import type { Database, Tx } from '../db/database.ts';
import { whatIsKept } from './differences.ts';
import { type AuditEntry, insertAuditEntries } from './store.ts';

/**
 * What happened to one resource. If `before` is null, it was created; if `after` is null, it was deleted. The entry of
 * a change holds only the fields that differ. Leave out a resource that did not change.
 */
export interface Change {
  /** Given if it is not the noun of the operation. */
  resourceType?: string;
  id: number | string;
  deploymentId?: number;
  embedTenantName?: string;
  before: object | null;
  after: object | null;
  /** The user who made the change, if no credential says so: the owner of a one-time link. */
  userId?: number;
  /** Given if `before` and `after` come from `whatIsKept`, because a request with many changes drops the rest early. */
  isKept?: true;
}

interface RowWithId {
  id: Change['id'];
}

/** The `changes` of an operation that created, changed or deleted one row. */
export const created = <Row extends RowWithId>(after: Row): Change => ({
  id: after.id,
  before: null,
  after,
});
export const changed = <Row extends RowWithId>(before: object, after: Row): Change => ({
  id: after.id,
  before,
  after,
});
export const deleted = <Row extends RowWithId>(before: Row): Change => ({
  id: before.id,
  before,
  after: null,
});

declare const committed: unique symbol;

/** A reply whose change is in the database, with its audit entries. Only `change` makes one. */
export interface CommittedReply<Reply> {
  readonly [committed]: true;
  readonly reply: Reply;
}

export type ChangeFunction = <Reply>(
  work: (tx: Tx) => Promise<{ reply: Reply; changes: Change | Change[] }>,
) => Promise<CommittedReply<Reply>>;

/** Called in the transaction of a change, with its entries. If it throws, the change is rolled back. */
export type OnChange = (tx: Tx, entries: readonly AuditEntry[]) => Promise<void>;

export interface Origin {
  operation: string;
  resourceType: string;
  actor: Actor;
  deploymentId: number | null;
  embedTenantName: string | null;
  ip: string | null;
  requestId: string | null;
}

/**
 * `begin` is called at each attempt. `commit` is called just before the commit and throws if the request was given up,
 * because such a request must change nothing.
 */
export interface Attempt {
  begin(): void;
  commit(): void;
}

export interface ChangeOptions {
  attempt?: Attempt;
  onChange?: OnChange | undefined;
}

export const changeFunction =
  (db: Database, origin: Origin, { attempt, onChange }: ChangeOptions = {}): ChangeFunction =>
  (work) =>
    db.transaction(async (tx) => {
      attempt?.begin();
      const { reply, changes } = await work(tx);
      const entries = [changes].flat().flatMap((change) => toEntry(origin, change));
      if (entries.length) {
        await insertAuditEntries(tx, entries);
        await onChange?.(tx, entries);
      }
      attempt?.commit();
      return { reply } as CommittedReply<typeof reply>;
    });

/** Returns no entry if nothing changed. */
function toEntry(origin: Origin, change: Change): AuditEntry[] {
  const { before, after } = change.isKept ? change : whatIsKept(change);
  if (before && after && !Object.keys({ ...before, ...after }).length) return [];
  const entry = {
    operation: origin.operation,
    resourceType: change.resourceType ?? origin.resourceType,
    resourceId: String(change.id),
    deploymentId: change.deploymentId ?? origin.deploymentId,
    embedTenantName:
      change.embedTenantName ?? origin.embedTenantName ?? embedTenantIn(change.after ?? change.before),
    ...identityOf(origin.actor),
    ...(change.userId === undefined ? {} : { userId: change.userId }),
    ip: origin.ip,
    requestId: origin.requestId,
    before,
    after,
  };
  return [entry];
}

/** For operations of the account whose resource says which embed tenant it is in. */
function embedTenantIn(resource: object | null): string | null {
  const name = (resource as { embedTenantName?: unknown } | null)?.embedTenantName;
  return typeof name === 'string' ? name : null;
}
