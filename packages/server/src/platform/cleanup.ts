/**
 * When a user, a deployment, an embed tenant or a folder is deleted, each domain handles its own rows. The request
 * hides them, and a job removes them in batches.
 */
import type { Database, Queryable, Tx } from './db/database.ts';
import { runBatches } from './jobs/batches.ts';

/** `Gone` says what was deleted. */
export interface Removal<Gone> {
  /**
   * Each function removes up to this many rows, and returns how many it removed. They are called in this order, each
   * until it returns 0.
   */
  removeOf?: ((db: Database, gone: Gone, rows: number) => Promise<number>)[];
  /** Whether rows are left that `removeOf` missed because others worked on them. If so, the job runs again. */
  isLeft?(db: Queryable, gone: Gone): Promise<boolean>;
}

export interface UserCleanup extends Removal<number> {
  /** Called in the transaction that deletes the user. Ends their access and their memberships. */
  endAccess?(tx: Tx, userId: number): Promise<unknown>;
  /** Whether the user owns something that must be given to another user. */
  owns?(tx: Tx, userId: number): Promise<boolean>;
  /**
   * Gives up to this many things to the new owner, and returns how many. Nothing else about them changes, not even
   * times and versions.
   */
  handOver?(tx: Tx, userId: number, heirId: number, rows: number): Promise<number>;
}

/** An embed tenant that was deleted, and whose rows are not removed yet. */
export interface HiddenTenant {
  /** Its former name. Another embed tenant may have this name now. */
  name: string;
  /** The embed tenant that its users, groups and attributes have now. */
  hiddenName: string;
  /** The embed tenant that its content has. */
  contentKey: string;
  /** The last session at the time of the deletion. Later sessions with the same name belong to another embed tenant. */
  lastSessionId: number;
}

export interface FolderCleanup {
  /** Called in the transaction that hides the folder and everything below it. */
  hideBelow?(tx: Tx, rootId: number): Promise<unknown>;
  /** Called in the transaction that hides one folder. Its content stays, and moves to the root. */
  hideOnly?(tx: Tx, folderId: number): Promise<unknown>;
  /** Removes up to this many rows from the next folders below the root, and returns how many it removed. */
  removeOf?(db: Queryable, rootId: number, rows: number): Promise<number>;
  /** Moves up to this many things from the folder to the root, and returns how many. */
  returnToRoot?(tx: Tx, folderId: number, rows: number): Promise<number>;
}

export interface Cleanup {
  user?: UserCleanup;
  deployment?: Removal<number>;
  embedTenant?: Removal<HiddenTenant>;
  folder?: FolderCleanup;
}

/**
 * Returns what the domains provide for one kind, in the reverse order of the list of modules. So rows are removed
 * before the rows that they refer to, and no cascade deletes more rows than a batch has.
 */
export type FindCleanups = <Kind extends keyof Cleanup>(kind: Kind) => NonNullable<Cleanup[Kind]>[];

/** Takes a function, because the modules that use this are themselves in the list. */
export const findCleanups =
  (modules: () => readonly { cleanup?: Cleanup }[]): FindCleanups =>
  (kind) =>
    modules()
      .flatMap(({ cleanup }) => cleanup?.[kind] ?? [])
      .reverse() as never;

/** Runs one turn of a job that removes all rows that belong to a deleted resource, in all domains. */
export async function removeAll<Gone>(
  removals: readonly Removal<Gone>[],
  gone: Gone,
  { db, signal }: { db: Database; signal: AbortSignal },
): Promise<'done' | 'unfinished'> {
  const outcome = await runBatches(
    signal,
    removals.flatMap(({ removeOf = [] }) =>
      removeOf.map((remove) => (rows: number) => remove(db, gone, rows)),
    ),
  );
  if (outcome === 'unfinished') return outcome;
  for (const removal of removals) if (await removal.isLeft?.(db, gone)) return 'unfinished';
  return 'done';
}

/** Calls each function until this many rows are done, and returns how many were done. */
export async function upTo(rows: number, works: ((rows: number) => Promise<number>)[]): Promise<number> {
  let done = 0;
  for (const work of works) if (done < rows) done += await work(rows - done);
  return done;
}
