/** Deletes folders with any amount of content: they are hidden at once, and a job deletes their rows later. */

import { type FindCleanups, upTo } from '../../platform/cleanup.ts';
import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { runBatches, UNTIL_DONE } from '../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { MANAGE, type Viewer } from '../access/index.ts';
import { requireFolder, requireFolderContent } from './folders.ts';
import * as store from './removal.store.ts';
import type { FolderAccessRow } from './store.ts';

/** How many rows return to the root before the call returns. A job moves the rest. */
export const RETURNED_MAX = 1000;

export interface FolderRemoval {
  /**
   * Must be called within a change of the tree of the folder (see trees.ts). Returns the folder as it was, and how many
   * rows have returned to the root.
   */
  deleteFolder(
    tx: Tx,
    viewer: Viewer,
    id: number,
    options: { recursive: boolean; returnedMax?: number },
  ): Promise<{ before: FolderAccessRow; returned: number }>;
  jobs: JobKind<never>[];
}

export function createFolderRemoval(cleanup: FindCleanups): FolderRemoval {
  /** In the order of the list of modules, so that workbooks come before reports. */
  const returnToRoot = (tx: Tx, folderId: number, rows: number) =>
    upTo(
      rows,
      cleanup('folder')
        .reverse()
        .map((part) => async (most) => part.returnToRoot?.(tx, folderId, most) ?? 0),
    );

  const removeFolders: JobKind<{ rootId: number }> = {
    name: 'folders.remove',
    ...UNTIL_DONE,
    async run({ rootId }, { db, signal }) {
      const removeSome = async (rows: number) => {
        for (const part of cleanup('folder')) {
          const removed = (await part.removeOf?.(db, rootId, rows)) ?? 0;
          if (removed > 0) return removed;
        }
        // Deepest first, and only empty folders.
        return store.deleteEmptyFolders(db, rootId);
      };
      const outcome = await runBatches(signal, [removeSome]);
      return outcome === 'done' && !(await store.hasRemoved(db, rootId)) ? 'done' : 'unfinished';
    },
  };

  const emptyFolder: JobKind<{ folderId: number }> = {
    name: 'folders.empty',
    ...UNTIL_DONE,
    async run({ folderId }, { db, signal }) {
      const outcome = await runBatches(signal, [
        (rows) => db.transaction((tx) => returnToRoot(tx, folderId, rows)),
      ]);
      return outcome === 'done' && (await store.deleteEmptyFolder(db, folderId)) ? 'done' : 'unfinished';
    },
  };

  return {
    jobs: [removeFolders, emptyFolder],
    async deleteFolder(tx, viewer, id, { recursive, returnedMax = RETURNED_MAX }) {
      // Waits for requests that are putting something into the folder, so that their content is found in it.
      await store.lockFolder(tx, id);
      const before = await requireFolder(tx, viewer, id, MANAGE);
      if (recursive) {
        await store.lockAll(tx, before);
        await requireFolderContent(tx, viewer, id, MANAGE);
        await store.hideBelow(tx, before);
        for (const part of cleanup('folder')) await part.hideBelow?.(tx, id);
        await enqueue(tx, removeFolders, { rootId: id });
        return { before, returned: 0 };
      }
      if (await store.hasFolders(tx, id)) throw new ApiError('folder_not_empty');
      const returned = await returnToRoot(tx, id, returnedMax);
      if (!(await store.deleteEmptyFolder(tx, id))) {
        await store.hideOnly(tx, id);
        for (const part of cleanup('folder')) await part.hideOnly?.(tx, id);
        await enqueue(tx, emptyFolder, { folderId: id });
      }
      return { before, returned };
    },
  };
}
