import type { Queryable, Tx } from '../../platform/db/database.ts';
import { type Sql, sql } from '../../platform/db/sql.ts';
import { isPresent } from '../access/index.ts';
import { isBelow } from './store.ts';

interface Folder {
  id: number;
  path: number[];
}

export const lockFolder = (tx: Tx, id: number) =>
  tx.run(sql`select from folders where id = ${id} for update`);

/** Whether there are folders in the folder. */
export const hasFolders = async (tx: Tx, id: number) =>
  (
    await tx.one<{ exists: boolean }>(sql`
      select exists (select from folders f where f.parent_id = ${id} and ${isPresent('f')})`)
  ).exists;

/** Waits for requests that put something into the folder or below it, and blocks new ones until the transaction ends. */
export async function lockAll(tx: Tx, folder: Folder): Promise<void> {
  await tx.run(sql`select from folders where ${isBelow(folder)} order by id for no key update`);
  await tx.run(sql`
    select from workbooks where folder_id in (select id from folders where ${isBelow(folder)})
    order by id for no key update`);
}

/** Hides the folder and everything below it. Folders below it that were being removed already join this removal. */
export const hideBelow = (tx: Tx, folder: Folder) =>
  tx.run(sql`
    insert into removed_folders (folder_id, root_id, depth, keeps_content)
    select id, ${folder.id}, cardinality(path), false from folders where ${isBelow(folder)}
    on conflict (folder_id) do update set root_id = excluded.root_id, depth = excluded.depth`);

/** Checked again for each row, because a request that began before the deletion may have moved the row out. */
export const isInRemoved = (rootId: number): Sql =>
  sql`in (select folder_id from removed_folders where root_id = ${rootId})`;

/** The folders to remove next: the deepest ones, so that no other remaining folder lies below them. */
export const foldersToRemove = (rootId: number): Sql => sql`
  select folder_id from removed_folders where root_id = ${rootId} order by depth desc, folder_id limit 100`;

/** Whether the folder `f` is empty. Deleting a folder would delete its content too. */
const isEmpty = sql`not exists (select from reports r where r.scope_folder_id = f.id)
  and not exists (select from workbooks w where w.folder_id = f.id)`;

export const deleteEmptyFolders = (db: Queryable, rootId: number) =>
  db.run(sql`
    delete from folders f where id = any(array(${foldersToRemove(rootId)})) and ${isEmpty}
      and not exists (select from folders below where below.parent_id = f.id)`);

/** Whether some of the folders that were deleted with this one are still there. */
export const hasRemoved = async (db: Queryable, rootId: number) =>
  (
    await db.one<{ left: boolean }>(
      sql`select exists (select from removed_folders where root_id = ${rootId}) as left`,
    )
  ).left;

/** Hides the folder and takes it out of its parent, so that its content inherits no policies. */
export async function hideOnly(tx: Tx, id: number): Promise<void> {
  await tx.run(sql`
    insert into removed_folders (folder_id, root_id, depth, keeps_content) values (${id}, ${id}, 1, true)`);
  await tx.run(
    sql`update folders set parent_id = null, path = array[id], shown_path = '{}' where id = ${id}`,
  );
}

/** Returns false if the folder still has content. Folders in it that are being removed continue on their own. */
export const deleteEmptyFolder = async (db: Queryable, id: number): Promise<boolean> => {
  await db.run(sql`update folders set parent_id = null where parent_id = ${id}`);
  await db.run(sql`delete from folders f where id = ${id} and ${isEmpty}`);
  return (await db.run(sql`select from folders where id = ${id}`)) === 0;
};
