/** Operations on folders that other domains use too. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { EDIT, type Level, MANAGE, NONE, READ, type Viewer, withContent } from '../access/index.ts';
import { fits } from './rules.ts';
import * as store from './store.ts';

/** The folder as callers see it. */
export const toFolder = ({
  path: _path,
  embedTenant: _tenant,
  level: _level,
  ...folder
}: store.FolderAccessRow) => folder;

/**
 * Throws a 404 if the viewer cannot read the folder, and a 403 if their level is too low. With the level `NONE`, it
 * reads a folder back after a change, even if the viewer can no longer read it because of the change.
 */
export async function requireFolder(db: Queryable, viewer: Viewer, id: number, level: Level) {
  const [row] = await store.findFolders(db, viewer, [id], level === NONE ? NONE : READ);
  const folder = found(row, 'folder_not_found');
  if (folder.level < level) throw new ApiError('forbidden');
  return folder;
}

/** Throws a 403 unless the viewer has this level on the folder and on everything in it. */
export async function requireFolderContent(db: Queryable, viewer: Viewer, id: number, level: Level) {
  const [folder] = await store.findFolders(db, withContent(viewer), [id], NONE);
  if (!folder || folder.level < level) throw new ApiError('forbidden', { message: NOT_ALL_OF_IT });
}

const NOT_ALL_OF_IT =
  'You may not do this: your role reaches folders, and not everything in them. It also needs the actions on workbooks and reports.';

/**
 * Returns the content key of the embed tenant whose tree the folder is in, or null for the main workspace. A change of
 * the folder must know it first, because it waits for that tree.
 */
export const requireTree = async (db: Queryable, viewer: Viewer, id: number, level: Level) =>
  (await requireFolder(db, viewer, id, level)).embedTenant;

/**
 * Returns the folder that something is put into, or null for the root, which is open to viewers who may create content.
 * The folder stays where it is until the transaction ends.
 */
export async function requireTarget(tx: Tx, viewer: Viewer, folderId: number | null) {
  if (folderId === null) {
    if (!viewer.mayCreate) throw new ApiError('forbidden');
    return null;
  }
  await store.lockFolders(tx, [folderId]);
  return requireFolder(tx, viewer, folderId, EDIT);
}

/** Returns the folder that something is moved into, or null for the root. It must be in the same embed tenant. */
export async function requireMoveTarget(
  tx: Tx,
  viewer: Viewer,
  moved: { embedTenant: string | null },
  folderId: number | null,
) {
  const target = await requireTarget(tx, viewer, folderId);
  if (target && target.embedTenant !== moved.embedTenant) throw new ApiError('embed_tenant_mismatch');
  return target;
}

/**
 * Must be called within a change of the tree of the folder (see trees.ts). A move changes who can reach the folder and
 * everything in it, so it needs `MANAGE` on all of that: owners of the target manage whatever comes to lie in it.
 */
export async function moveFolder(tx: Tx, viewer: Viewer, id: number, targetId: number | null) {
  const before = await requireFolder(tx, viewer, id, MANAGE);
  await requireFolderContent(tx, viewer, id, MANAGE);
  const target = await requireMoveTarget(tx, viewer, before, targetId);
  if (target?.path.includes(id)) throw new ApiError('folder_cycle');
  if (!fits(target?.path.length ?? 0, await store.findHeight(tx, before)))
    throw new ApiError('folder_too_deep');
  await store.moveFolder(tx, before, target, viewer.userId);
  return { before, after: await requireFolder(tx, viewer, id, NONE) };
}
