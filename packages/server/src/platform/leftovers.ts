/**
 * When a user, a deployment, an embed tenant or a folder is deleted, each domain is asked what to do with its own rows.
 * A request takes them out of sight, and a job removes them in batches.
 */
import type { Database, Queryable, Tx } from './db/database.ts';
import { runBatches } from './jobs/batches.ts';

/** `Gone` says what was deleted. */
export interface Removal<Gone> {
  /**
   * Each one removes up to so many rows, and returns how many there were. They are called in this order, each until it
   * returns 0.
   */
  removeOf?: ((db: Database, gone: Gone, rows: number) => Promise<number>)[];
  /** Whether rows are left that `removeOf` missed because others worked on them. The job then runs again. */
  isLeft?(db: Queryable, gone: Gone): Promise<boolean>;
}

export interface UserLeftovers extends Removal<number> {
  /** In the transaction that deletes the user: ends what they could do and what they belong to. */
  endAccess?(tx: Tx, userId: number): Promise<unknown>;
  /** Whether the user owns something that must go to an heir. */
  owns?(tx: Tx, userId: number): Promise<boolean>;
  /** Gives up to so many things to the heir, and returns how many. They stay as they are, with times and versions. */
  handOver?(tx: Tx, userId: number, heirId: number, rows: number): Promise<number>;
}

/** An embed tenant that was deleted and is not removed yet. */
export interface HiddenTenant {
  /** What it was called. Another embed tenant may have this name now. */
  name: string;
  /** What its users, groups and attributes have as their embed tenant now. */
  hiddenName: string;
  /** What its content has as its embed tenant. */
  contentKey: string;
  /** The last session that there was. Later ones with the same name belong to another embed tenant. */
  lastSessionId: number;
}

export interface FolderLeftovers {
  /** In the transaction that takes the folder and everything below it out of sight. */
  hideBelow?(tx: Tx, rootId: number): Promise<unknown>;
  /** In the transaction that takes one folder out of sight. What lies in it stays, and returns to the root. */
  hideOnly?(tx: Tx, folderId: number): Promise<unknown>;
  /** Removes up to so many rows from the next folders below the root; returns how many there were. */
  removeOf?(db: Queryable, rootId: number, rows: number): Promise<number>;
  /** Moves up to so many things from the folder to the root, and returns how many. */
  returnToRoot?(tx: Tx, folderId: number, rows: number): Promise<number>;
}

export interface Leftovers {
  user?: UserLeftovers;
  deployment?: Removal<number>;
  embedTenant?: Removal<HiddenTenant>;
  folder?: FolderLeftovers;
}

/**
 * What the domains bring for one kind, in the reverse order of the list of modules: what refers to something is removed
 * before it, so that no statement takes along more rows than a batch has.
 */
export type AskLeftovers = <Kind extends keyof Leftovers>(kind: Kind) => NonNullable<Leftovers[Kind]>[];

/** A function, because the modules that ask are themselves in the list. */
export const askLeftovers =
  (modules: () => readonly { leftovers?: Leftovers }[]): AskLeftovers =>
  (kind) =>
    modules()
      .flatMap(({ leftovers }) => leftovers?.[kind] ?? [])
      .reverse() as never;

/** One turn of a job that removes everything that the domains have of what was deleted. */
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

/** Calls each until so many rows are done, and returns how many were. */
export async function upTo(rows: number, works: ((rows: number) => Promise<number>)[]): Promise<number> {
  let done = 0;
  for (const work of works) if (done < rows) done += await work(rows - done);
  return done;
}
