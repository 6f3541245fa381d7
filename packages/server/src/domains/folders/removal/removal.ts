/** Deleting folders, however much lies in them: out of every reader's sight at once, then row by row in a job. */
import type { Tx } from '../../../platform/db/database.ts';
import { ApiError } from '../../../platform/errors.ts';
import { runBatches } from '../../../platform/jobs/batches.ts';
import { enqueue, type JobKind } from '../../../platform/jobs/jobs.ts';
import { MANAGE, type Viewer } from '../../access/index.ts';
import { requireFolder } from '../folders.ts';
import type { FolderAccessRow } from '../store.ts';
import * as store from './store.ts';

/** How much returns to the root before the answer. The rest follows in a job. */
export const RETURNED_MAX = 1000;
/** Tried until it succeeds: what is left is in nobody's sight, and would never be found otherwise. */
const ATTEMPTS_MAX = 1_000_000;

export const removeFolders: JobKind<{ rootId: number }> = {
  name: 'folders.remove',
  maxAttempts: ATTEMPTS_MAX,
  run({ rootId }, { db, signal }) {
    return runBatches(signal, [
      async (rows) => {
        if ((await store.deleteReports(db, rootId, rows)) === rows) return rows;
        if ((await store.deleteWorkbooks(db, rootId, rows)) === rows) return rows;
        // Deepest first, so that nothing but the folders themselves is left to go with them.
        return (await store.deleteFolders(db, rootId)) > 0 ? rows : 0;
      },
    ]);
  },
};

export const emptyFolder: JobKind<{ folderId: number }> = {
  name: 'folders.empty',
  maxAttempts: ATTEMPTS_MAX,
  async run({ folderId }, { db, signal }) {
    const outcome = await runBatches(signal, [
      (rows) => db.transaction((tx) => store.returnToRoot(tx, folderId, rows)),
    ]);
    if (outcome === 'done') await store.deleteFolder(db, folderId);
    return outcome;
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
  if (returned < returnedMax) await store.deleteFolder(tx, id);
  else {
    await store.hideOnly(tx, id);
    await enqueue(tx, emptyFolder, { folderId: id });
  }
  return { before, returned };
}
