import { actions, operations } from '@oriel/contract';
import type { Change } from '../../platform/audit/change.ts';
import { whatIsKept } from '../../platform/audit/differences.ts';
import { mayIn } from '../../platform/auth/access.ts';
import { type Caller, embedOf } from '../../platform/auth/actor.ts';
import type { Database, Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, fitting, jsonBytes, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { embedTenantOf, MANAGE, NONE, newManagers, type Viewer, viewerOf } from '../access/index.ts';
import {
  type FolderAccessRow,
  type FolderRemoval,
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
  listReports,
  lockReport,
  moveReport,
  type ReportRow,
  toReport,
} from '../reports/index.ts';
import {
  deleteWorkbook,
  listWorkbooksById,
  lockPlainWorkbook,
  moveWorkbook,
  type PlainWorkbookRow,
  toWorkbook,
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
  owned?: boolean | null;
  first?: number;
  after?: string;
}

export const workspaceRoutes = ({ trees, removal }: { trees: Trees; removal: FolderRemoval }) => {
  async function list(
    { db, actor, cursors }: { db: Database; actor: Caller; cursors: Cursors },
    deploymentId: number,
    shared: boolean,
    query: ListQuery,
    embedTenant: string | null,
  ) {
    const viewer = viewerOf(actor, deploymentId);
    const orderBy = query.orderByField ?? 'updated_at';
    const direction = query.orderByDirection ?? (orderBy === 'name' ? 'ASC' : 'DESC');
    const owned = query.owned ?? false;
    const name = `${shared ? 'shared ' : ''}${owned ? 'own ' : ''}workspace by ${orderBy} ${direction}`;
    const size = pageSize(query.first);
    const positions = await store.listWorkspace(db, {
      // Content that is visible by a role was not shared by anybody. External users share all of their embed tenant.
      viewer:
        shared && !viewer.isExternal
          ? { ...viewer, levels: { Folder: NONE, Workbook: NONE, Report: NONE } }
          : viewer,
      shared,
      owned,
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

    handle(operations.workspaceRights, async ({ actor, db }, { params: { deploymentId }, query }) => {
      const viewer = viewerOf(actor, deploymentId);
      const rights = await store.findRights(db, viewer, {
        FOLDER: query.folderIds ?? [],
        WORKBOOK: query.workbookIds ?? [],
        REPORT: query.reportIds ?? [],
      });
      const ofType = (type: store.ItemType) => rights.filter((one) => one.type === type);
      return {
        canCreate: viewer.mayCreate,
        // A session does not have the rights that its user's roles give outside of it.
        actions: embedOf(actor) ? [] : actions.filter((action) => mayIn(actor, deploymentId, action)),
        folders: ofType('FOLDER'),
        workbooks: ofType('WORKBOOK'),
        reports: ofType('REPORT'),
      };
    }),

    handle(operations.moveWorkspaceObject, async ({ actor, change, db }, { params, body }) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const work = async (tx: Tx) => {
        const { before, after } = await move(tx, viewer, body, body.folderId ?? null);
        const managers = await newManagers(tx, viewer, before, after);
        return {
          reply: { ...toItem(after), ...managers },
          changes: { id: `${body.type}:${body.id}`, before, after },
        };
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
        const { done, failed } = await each(tx, body.items, reached, async (item) => {
          const { before, after } = await move(tx, viewer, item, folderId);
          const managers = await newManagers(tx, viewer, before, after);
          return { shown: { ...toBriefItem(after), ...managers }, change: briefly(item, before, after) };
        });
        return {
          reply: { moved: done.map(({ result }) => result.shown), failed },
          changes: done.map(({ result }) => result.change),
        };
      });
    }),

    handle(operations.bulkDeleteWorkspaceObjects, async ({ actor, change, db }, { params, body }) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const reached = await store.findEmbedTenants(db, viewer, body.items);
      return trees.change(change, viewer, reached.values(), async (tx) => {
        // The limit of rows that return to the root at once is for the whole request.
        const budget = { rows: RETURNED_MAX };
        const { done, failed } = await each(tx, body.items, reached, async (item) =>
          briefly(item, await remove(tx, removal, viewer, item, budget), null),
        );
        return {
          reply: { deleted: done.map(({ item }) => item), failed },
          changes: done.map(({ result }) => result),
        };
      });
    }),
  ];
};

const MOVES = { FOLDER: moveFolder, WORKBOOK: moveWorkbook, REPORT: moveReport };

type Content = FolderAccessRow | PlainWorkbookRow | ReportRow;

function toItem(row: Content) {
  if (row.type === 'FOLDER') return toFolder(row);
  return row.type === 'WORKBOOK' ? toWorkbook(row) : toReport(row);
}

/** One of many items, without the large fields that are optional. */
function toBriefItem(row: Content) {
  if (row.type !== 'REPORT') return toItem(row);
  const { sqlQuery: _sql, jsonQuery: _json, pivotItems: _pivot, meta: _meta, ...report } = toReport(row);
  return report;
}

/** The part of a change that the audit log stores. The rest is dropped at once, because there may be many large items. */
const briefly = ({ type, id }: Item, before: object, after: object | null): Change => ({
  id: `${type}:${id}`,
  ...whatIsKept({ before, after }),
});

const move = (
  tx: Tx,
  viewer: Viewer,
  { type, id }: Item,
  folderId: number | null,
): Promise<{ before: Content; after: Content }> => MOVES[type](tx, viewer, id, folderId);

async function remove(
  tx: Tx,
  removal: FolderRemoval,
  viewer: Viewer,
  { type, id }: Item,
  budget: { rows: number },
): Promise<object> {
  if (type === 'FOLDER') {
    const { before, returned } = await removal.deleteFolder(tx, viewer, id, {
      recursive: false,
      returnedMax: budget.rows,
    });
    budget.rows -= returned;
    return before;
  }
  if (type === 'WORKBOOK') {
    const before = await lockPlainWorkbook(tx, viewer, id, MANAGE);
    await deleteWorkbook(tx, viewer, id);
    return before;
  }
  const before = await lockReport(tx, viewer, id, MANAGE);
  await deleteReport(tx, id);
  return before;
}

const NOT_FOUND = {
  FOLDER: 'folder_not_found',
  WORKBOOK: 'workbook_not_found',
  REPORT: 'report_not_found',
} as const;

/**
 * Each item succeeds or fails on its own, and an item that fails changes nothing. Must be called within a change of the
 * trees of all items that the caller reaches, so that two lists with the same items in different orders do not wait for
 * each other. An item that the caller did not reach before is a 404.
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

/** Reads the items at these places of a list, and returns how many of the places fit into a page. */
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
