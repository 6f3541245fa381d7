/** Finds the users who manage an item because of the place that it was moved to. */
import type { Tx } from '../../platform/db/database.ts';
import { raw, type Sql, sql } from '../../platform/db/sql.ts';
import type { Viewer } from './rules.ts';

type Item = { id: number } & (
  | { type: 'FOLDER'; parentId: number | null }
  | { type: 'WORKBOOK'; folderId: number | null }
  | { type: 'REPORT'; folderId: number | null; workbookId: number | null }
);

const TABLES = { FOLDER: raw('folders'), WORKBOOK: raw('workbooks'), REPORT: raw('reports') };

/**
 * Returns what the reply of a move adds to the item: the users who manage it since the move, because they own a folder
 * or workbook that it lies in now. Adds nothing if the item was not moved. External users are left out: they manage all
 * content of their embed tenant, wherever it lies.
 */
export async function newManagers(tx: Tx, viewer: Viewer, before: Item | null, after: Item) {
  if (before === null) return {};
  const [from, to] = [placeOf(before), placeOf(after)];
  if (from.folderId === to.folderId && from.workbookId === to.workbookId) return {};
  const alsoManagedBy = await tx.many<{ id: number; email: string | null }>(sql`
    select u.id, case when ${viewer.seesNames} then u.shown_email end as email from users u
    where u.id in (${ownersOf(to)}) and u.id not in (${ownersOf(from)}) and u.embed_tenant is null
      and u.id <> ${viewer.userId} and u.id <> (select user_id from ${TABLES[after.type]} where id = ${after.id})
    order by u.id`);
  return { alsoManagedBy };
}

interface Place {
  folderId: number | null;
  workbookId: number | null;
}

const placeOf = (item: Item): Place => ({
  folderId: item.type === 'FOLDER' ? item.parentId : item.folderId,
  workbookId: item.type === 'REPORT' ? item.workbookId : null,
});

/** The owners of the workbook, of the folder, and of all folders above. */
const ownersOf = ({ folderId, workbookId }: Place): Sql => sql`
  select above.user_id from folders f join folders above on above.id = any(f.path)
  where f.id = coalesce(${folderId}::bigint, (select folder_id from workbooks where id = ${workbookId}::bigint))
    and above.id not in (select folder_id from removed_folders)
  union all select user_id from workbooks where id = ${workbookId}::bigint`;
