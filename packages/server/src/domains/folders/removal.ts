/** Deleting folders, however much lies in them: out of every reader's sight at once, then row by row in a job. */
import type { Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { runBatches, UNTIL_DONE } from '../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../platform/jobs/jobs.ts';
import { MANAGE, type Viewer } from '../access/index.ts';
import { requireFolder } from './folders.ts';
import * as store from './removal.store.ts';
import type { FolderAccessRow } from './store.ts';

/** How much returns to the root before the answer. The rest follows in a job. */
export const RETURNED_MAX = 1000;

export const removeFolders: JobKind<{ rootId: number }> = {
  name: 'folders.remove',
  ...UNTIL_DONE,
  async run({ rootId }, { db, signal }) {
    const outcome = await runBatches(signal, [
      async (rows) =>
        (await store.deleteReports(db, rootId, rows)) ||
        (await store.deleteWorkbooks(db, rootId, rows)) ||
        // Deepest first, and only those that nothing lies in.
        store.deleteEmptyFolders(db, rootId),
    ]);
    return outcome === 'done' && !(await store.hasRemoved(db, rootId)) ? 'done' : 'unfinished';
  },
};

export const emptyFolder: JobKind<{ folderId: number }> = {
  name: 'folders.empty',
  ...UNTIL_DONE,
  async run({ folderId }, { db, signal }) {
    const outcome = await runBatches(signal, [
      (rows) => db.transaction((tx) => store.returnToRoot(tx, folderId, rows)),
    ]);
    return outcome === 'done' && (await store.deleteEmptyFolder(db, folderId)) ? 'done' : 'unfinished';
  },
};

/** Called within a change of its tree (see trees.ts). Answers what the folder was, and how much has returned to the root. */
export async function deleteFolder(
  tx: Tx,
  viewer: Viewer,
  id: number,
  { recursive, returnedMax = RETURNED_MAX }: { recursive: boolean; returnedMax?: number },
): Promise<{ before: FolderAccessRow; returned: number }> {
  // Waits for who is putting something into the folder: it is found there then.
  await store.lockFolder(tx, id);
  const before = await requireFolder(tx, viewer, id, MANAGE);
  if (recursive) {
    await store.lockAll(tx, before);
    if (await store.hasUnmanaged(tx, viewer, before)) throw new ApiError('forbidden');
    await store.hideAll(tx, before);
    await enqueue(tx, removeFolders, { rootId: id });
    return { before, returned: 0 };
  }
  if (await store.hasFolders(tx, id)) throw new ApiError('folder_not_empty');
  const returned = await store.returnToRoot(tx, id, returnedMax);
  if (!(await store.deleteEmptyFolder(tx, id))) {
    await store.hideOnly(tx, id);
    await enqueue(tx, emptyFolder, { folderId: id });
  }
  return { before, returned };
}
