import { operations } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import type { Actor } from '../../platform/auth/actor.ts';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { embedTenantOf, MANAGE, NONE, type Viewer, viewerOf } from '../access/index.ts';
import {
  deleteFolder,
  type FolderAccessRow,
  findFolders,
  moveFolder,
  RETURNED_MAX,
  requireTarget,
  requireTree,
  type Trees,
  toFolder,
} from '../folders/index.ts';
import {
  deleteReport,
  findReports,
  lockReport,
  moveReport,
  type ReportRow,
  toReport,
} from '../reports/index.ts';
import {
  deleteWorkbook,
  findWorkbooks,
  lockWorkbook,
  moveWorkbook,
  toWorkbook,
  type WorkbookRow,
} from '../workbooks/index.ts';
import * as store from './store.ts';

const ALL_TYPES = ['FOLDER', 'WORKBOOK', 'REPORT'] as const;

interface Item {
  type: store.ItemType;
  id: number;
}

interface ListQuery {
  folderId?: number | null;
  types?: store.ItemType[] | null;
  orderByField?: store.OrderBy | null;
  orderByDirection?: 'ASC' | 'DESC' | null;
  search?: string | null;
  first?: number;
  after?: string;
}

export const workspaceRoutes = ({ cursors, trees }: { cursors: Cursors; trees: Trees }) => {
  async function list(
    db: Database,
    actor: Actor,
    deploymentId: number,
    shared: boolean,
    query: ListQuery,
    embedTenant: string | null,
  ) {
    const viewer = viewerOf(actor, deploymentId);
    const orderBy = query.orderByField ?? 'updated_at';
    const direction = query.orderByDirection ?? (orderBy === 'name' ? 'ASC' : 'DESC');
    const name = `${shared ? 'shared ' : ''}workspace by ${orderBy} ${direction}`;
    const size = pageSize(query.first);
    const positions = await store.listWorkspace(db, {
      // What a role gives was not shared by anybody. Those of an embed tenant share all of it.
      viewer:
        shared && !viewer.isExternal
          ? { ...viewer, levels: { Folder: NONE, Workbook: NONE, Report: NONE } }
          : viewer,
      shared,
      folderId: query.folderId ?? null,
      types: query.types?.length ? [...new Set(query.types)] : ALL_TYPES,
      search: query.search ?? null,
      embedTenant,
      orderBy,
      direction,
      after: query.after ? (cursors.decode(name, query.after) as [string, store.ItemType, number]) : null,
      limit: size + 1,
    });
    const { items, pageInfo } = toPage(positions, {
      size,
      after: query.after,
      cursorOf: ({ key, type, id }) => cursors.encode(name, [key, type, id]),
    });
    return { items: await readItems(db, viewer, items), pageInfo };
  }

  return [
    handle(operations.workspaceObjects, ({ actor, db }, { params, query }) =>
      list(db, actor, params.deploymentId, false, query, embedTenantOf(actor, query.embedTenantName)),
    ),

    handle(operations.sharedWorkspaceObjects, ({ actor, db }, { params, query }) =>
      list(db, actor, params.deploymentId, true, query, embedTenantOf(actor)),
    ),

    handle(operations.moveWorkspaceObject, async ({ actor, change, db }, { params, body }) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const work = async (tx: Tx) => {
        const { before, after } = await move(tx, viewer, body, body.folderId ?? null);
        return { reply: toItem(after), changes: { id: `${body.type}:${body.id}`, before, after } };
      };
      if (body.type !== 'FOLDER') return change(work);
      const embedTenant = await requireTree(db, viewer, body.id, MANAGE);
      return trees.change(change, viewer, [embedTenant], work);
    }),

    handle(operations.bulkMoveWorkspaceObjects, async ({ actor, change, db }, { params, body }) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const reached = await store.findEmbedTenants(db, viewer, body.items);
      return trees.change(change, viewer, reached.values(), async (tx) => {
        const folderId = body.folderId ?? null;
        await requireTarget(tx, viewer, folderId);
        const { done, failed } = await each(tx, body.items, reached, (item) =>
          move(tx, viewer, item, folderId),
        );
        return {
          reply: { moved: done.map(({ result }) => toItem(result.after)), failed },
          changes: done.map(({ item, result }) => ({ id: `${item.type}:${item.id}`, ...result })),
        };
      });
    }),

    handle(operations.bulkDeleteWorkspaceObjects, async ({ actor, change, db }, { params, body }) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const reached = await store.findEmbedTenants(db, viewer, body.items);
      return trees.change(change, viewer, reached.values(), async (tx) => {
        // What returns to the root at once is limited for the request as a whole.
        const budget = { rows: RETURNED_MAX };
        const { done, failed } = await each(tx, body.items, reached, (item) =>
          remove(tx, viewer, item, budget),
        );
        return {
          reply: { deleted: done.map(({ item }) => item), failed },
          changes: done.map(
            ({ item, result }): Change => ({ id: `${item.type}:${item.id}`, before: result, after: null }),
          ),
        };
      });
    }),
  ];
};

const MOVES = { FOLDER: moveFolder, WORKBOOK: moveWorkbook, REPORT: moveReport };

type Content = FolderAccessRow | WorkbookRow | ReportRow;

function toItem(row: Content) {
  if (row.type === 'FOLDER') return toFolder(row);
  return row.type === 'WORKBOOK' ? toWorkbook(row) : toReport(row);
}

const move = (
  tx: Tx,
  viewer: Viewer,
  { type, id }: Item,
  folderId: number | null,
): Promise<{ before: Content; after: Content }> => MOVES[type](tx, viewer, id, folderId);

async function remove(tx: Tx, viewer: Viewer, { type, id }: Item, budget: { rows: number }): Promise<object> {
  if (type === 'FOLDER') {
    const { before, returned } = await deleteFolder(tx, viewer, id, {
      recursive: false,
      returnedMax: budget.rows,
    });
    budget.rows -= returned;
    return before;
  }
  const before = await (type === 'WORKBOOK' ? lockWorkbook : lockReport)(tx, viewer, id, MANAGE);
  await (type === 'WORKBOOK' ? deleteWorkbook : deleteReport)(tx, id);
  return before;
}

const NOT_FOUND = {
  FOLDER: 'folder_not_found',
  WORKBOOK: 'workbook_not_found',
  REPORT: 'report_not_found',
} as const;

/**
 * Each item succeeds or fails on its own, and one that fails leaves nothing half done. It is called within a change of
 * the trees that hold what the caller reaches: of two lists that name the same things in different orders, neither
 * waits for the other halfway. What the caller did not reach before that is not there.
 */
async function each<Result>(
  tx: Tx,
  items: Item[],
  reached: ReadonlyMap<string, unknown>,
  work: (item: Item) => Promise<Result>,
) {
  const done: { item: Item; result: Result }[] = [];
  const failed: (Item & { error: { status: number; message: string } })[] = [];
  for (const item of items) {
    try {
      if (!reached.has(store.itemKey(item))) throw new ApiError(NOT_FOUND[item.type]);
      done.push({ item, result: await tx.attempt(() => work(item)) });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      failed.push({ ...item, error: { status: error.statusCode, message: error.message } });
    }
  }
  return { done, failed };
}

async function readItems(db: Queryable, viewer: Viewer, items: Item[]) {
  const read = async <Row>(type: store.ItemType, find: (ids: number[]) => Promise<Row[]>) => {
    const ids = items.filter((item) => item.type === type).map(({ id }) => id);
    return ids.length ? find(ids) : [];
  };
  const [folders, workbooks, reports] = await Promise.all([
    read('FOLDER', (ids) => findFolders(db, viewer, ids)),
    read('WORKBOOK', (ids) => findWorkbooks(db, viewer, ids)),
    read('REPORT', (ids) => findReports(db, viewer, ids)),
  ]);
  const rows = new Map([...folders, ...workbooks, ...reports].map((row) => [`${row.type}:${row.id}`, row]));
  return items.flatMap(({ type, id }) => rows.get(`${type}:${id}`) ?? []).map(toItem);
}
