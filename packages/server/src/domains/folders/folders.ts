/** What other nouns ask of folders. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { EDIT, type Level, MANAGE, NONE, READ, type Viewer } from '../access/index.ts';
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
 * A 404 for who may not know of it, a 403 for who may not do that much with it. With no level it is read back after
 * a change, which may have taken it out of the caller's own reach.
 */
export async function requireFolder(db: Queryable, viewer: Viewer, id: number, level: Level) {
  const [row] = await store.findFolders(db, viewer, [id], level === NONE ? NONE : READ);
  const folder = found(row, 'folder_not_found');
  if (folder.level < level) throw new ApiError('forbidden');
  return folder;
}

/**
 * The content key of the embed tenant whose tree a folder is in, null for the main workspace: a change of the folder
 * waits for that tree, and so asks for it first.
 */
export const requireTree = async (db: Queryable, viewer: Viewer, id: number, level: Level) =>
  (await requireFolder(db, viewer, id, level)).embedTenant;

/**
 * The folder that something is put into; null for the root, which is open to who may make things. It stays there until
 * the transaction ends.
 */
export async function requireTarget(tx: Tx, viewer: Viewer, folderId: number | null) {
  if (folderId === null) {
    if (!viewer.mayCreate) throw new ApiError('forbidden');
    return null;
  }
  await store.lockFolders(tx, [folderId]);
  return requireFolder(tx, viewer, folderId, EDIT);
}

/** As above, for something that is moved there. */
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

/** Within a change of its tree (see trees.ts). Whoever moves something changes who reaches it, so they must manage it. */
export async function moveFolder(tx: Tx, viewer: Viewer, id: number, targetId: number | null) {
  const before = await requireFolder(tx, viewer, id, MANAGE);
  const target = await requireMoveTarget(tx, viewer, before, targetId);
  if (target?.path.includes(id)) throw new ApiError('folder_cycle');
  if (!fits(target?.path.length ?? 0, await store.findHeight(tx, before)))
    throw new ApiError('folder_too_deep');
  await store.moveFolder(tx, before, target, viewer.userId);
  return { before, after: await requireFolder(tx, viewer, id, NONE) };
}
