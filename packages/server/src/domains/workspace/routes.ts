import { operations } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import type { Actor } from '../../platform/auth/actor.ts';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, fitting, jsonBytes, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { EDIT, embedTenantOf, MANAGE, NONE, type Viewer, viewerOf } from '../access/index.ts';
import {
  deleteFolder,
  type FolderAccessRow,
  findFolders,
  lockTree,
  moveFolder,
  requireFolder,
  toFolder,
} from '../folders/index.ts';
import {
  deleteReport,
  listReports,
  lockReport,
  moveReport,
  type ReportRow,
  toReport,
} from '../reports/index.ts';
import {
  deleteWorkbook,
  listWorkbooksById,
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

export const workspaceRoutes = () => {
  async function list(
    { db, actor, cursors }: { db: Database; actor: Actor; cursors: Cursors },
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
    const page = await readItems(db, viewer, positions.slice(0, size));
    const { pageInfo } = toPage(positions, {
      size: page.size,
      after: query.after,
      cursorOf: ({ key, type, id }) => cursors.encode(name, [key, type, id]),
      bytesOf: () => 0,
    });
    return { items: page.items, pageInfo };
  }

  return [
    handle(operations.workspaceObjects, (call, { params, query }) =>
      list(call, params.deploymentId, false, query, embedTenantOf(call.actor, query.embedTenantName)),
    ),

    handle(operations.sharedWorkspaceObjects, (call, { params, query }) =>
      list(call, params.deploymentId, true, query, embedTenantOf(call.actor)),
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
        const { done, failed } = await each(tx, viewer, body.items, (item) => remove(tx, viewer, item));
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

async function remove(tx: Tx, viewer: Viewer, { type, id }: Item): Promise<object> {
  if (type === 'FOLDER') {
    const folder = await requireFolder(tx, viewer, id, MANAGE);
    await deleteFolder(tx, id);
    return folder;
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

/** The things at these places of a list, and how many of the places fit into a page. */
async function readItems(db: Queryable, viewer: Viewer, places: Item[]) {
  const idsOf = (type: store.ItemType) => places.filter((item) => item.type === type).map(({ id }) => id);
  const [folders, workbooks, reports] = await Promise.all([
    readSome(idsOf('FOLDER'), async (ids) => ({
      rows: await findFolders(db, viewer, ids),
      cutAt: undefined,
    })),
    readSome(idsOf('WORKBOOK'), (ids) => listWorkbooksById(db, viewer, ids)),
    readSome(idsOf('REPORT'), (ids) => listReports(db, viewer, ids)),
  ]);
  const cutAt = { FOLDER: undefined, WORKBOOK: workbooks.cutAt, REPORT: reports.cutAt };
  const cut = places.findIndex(({ type, id }) => id === cutAt[type]);
  const rows = [...folders.rows.map(toFolder), ...workbooks.rows, ...reports.rows.map(toReport)];
  const byPlace = new Map(rows.map((row) => [`${row.type}:${row.id}`, row]));
  const shown = places
    .slice(0, cut === -1 ? places.length : cut)
    .map(({ type, id }) => byPlace.get(`${type}:${id}`));
  const size = fitting(shown, shown.length, (row) => (row ? jsonBytes(row) : 0));
  return { items: shown.slice(0, size).filter((row) => row !== undefined), size };
}

const readSome = async <Found extends { rows: unknown[] }>(
  ids: number[],
  read: (ids: number[]) => Promise<Found>,
) => (ids.length ? read(ids) : ({ rows: [], cutAt: undefined } as unknown as Found));
