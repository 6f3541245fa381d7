import { operations } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import type { Actor } from '../../platform/auth/actor.ts';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { EDIT, embedTenantOf, MANAGE, NONE, type Viewer, viewerOf } from '../access/index.ts';
import {
  deleteFolder,
  type FolderAccessRow,
  findFolders,
  lockTree,
  moveFolder,
  RETURNED_MAX,
  requireFolder,
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

export const workspaceRoutes = ({ cursors }: { cursors: Cursors }) => {
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

    handle(operations.moveWorkspaceObject, ({ actor, change }, { params, body }) =>
      change(async (tx) => {
        const { before, after } = await move(
          tx,
          viewerOf(actor, params.deploymentId),
          body,
          body.folderId ?? null,
        );
        return { reply: toItem(after), changes: { id: `${body.type}:${body.id}`, before, after } };
      }),
    ),

    handle(operations.bulkMoveWorkspaceObjects, ({ actor, change }, { params, body }) =>
      change(async (tx) => {
        const viewer = viewerOf(actor, params.deploymentId);
        const folderId = body.folderId ?? null;
        if (folderId !== null) await requireFolder(tx, viewer, folderId, EDIT);
        const { done, failed } = await each(tx, viewer, body.items, (item) =>
          move(tx, viewer, item, folderId),
        );
        return {
          reply: { moved: done.map(({ result }) => toItem(result.after)), failed },
          changes: done.map(({ item, result }) => ({ id: `${item.type}:${item.id}`, ...result })),
        };
      }),
    ),

    handle(operations.bulkDeleteWorkspaceObjects, ({ actor, change }, { params, body }) =>
      change(async (tx) => {
        const viewer = viewerOf(actor, params.deploymentId);
        // What returns to the root at once is limited for the request as a whole.
        const budget = { rows: RETURNED_MAX };
        const { done, failed } = await each(tx, viewer, body.items, (item) =>
          remove(tx, viewer, item, budget),
        );
        return {
          reply: { deleted: done.map(({ item }) => item), failed },
          changes: done.map(
            ({ item, result }): Change => ({ id: `${item.type}:${item.id}`, before: result, after: null }),
          ),
        };
      }),
    ),
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

/**
 * Each item succeeds or fails on its own, and one that fails leaves nothing half done. One such list at a time:
 * two that name the same things in different orders would wait for each other.
 */
async function each<Result>(tx: Tx, viewer: Viewer, items: Item[], work: (item: Item) => Promise<Result>) {
  await lockTree(tx, viewer.deploymentId);
  const done: { item: Item; result: Result }[] = [];
  const failed: (Item & { error: { status: number; message: string } })[] = [];
  for (const item of items) {
    try {
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
