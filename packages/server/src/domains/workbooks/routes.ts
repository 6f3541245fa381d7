import { limits, operations, type ReplyOf } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Caller } from '../../platform/auth/actor.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { newPublicId } from '../../platform/public-id.ts';
import {
  EDIT,
  embedTenantOf,
  MANAGE,
  NONE,
  newManagers,
  READ,
  requireHome,
  viewerOf,
} from '../access/index.ts';
import { copyReports } from '../reports/index.ts';
import * as store from './store.ts';
import {
  copyName,
  deleteWorkbook,
  editableFolder,
  insertWorkbook,
  lockWorkbook,
  requireWorkbook,
  takeSlug,
  toListed,
  updateDraft,
  updateWorkbook,
  upsertWorkbook,
  withCopies,
} from './workbooks.ts';

const LIST = 'workbooks by creation';

type DashboardReply = ReplyOf<typeof operations.getDashboard>;

export type FindPublished = (
  db: Queryable,
  actor: Caller,
  workbook: { id: number; deploymentId: number },
) => Promise<DashboardReply | null>;

export const workbookRoutes = (findPublished: FindPublished) => [
  handle(operations.getWorkbooks, async ({ actor, db, cursors }, { params, query }) => {
    const viewer = viewerOf(actor, params.deploymentId);
    const filter = {
      folderId: query.folderId == null ? undefined : query.folderId || null,
      embedTenant: embedTenantOf(actor, query.embedTenantName),
    };
    const size = pageSize(query.first);
    const after = query.after ? (cursors.decode(LIST, query.after) as [string, number]) : null;
    const [rows, count] = await Promise.all([
      store.listWorkbooks(db, viewer, filter, { after, limit: size + 1 }),
      store.countWorkbooks(db, viewer, filter),
    ]);
    const cut = rows.findIndex(({ fits }) => !fits);
    const page = toPage(rows, {
      size: cut === -1 ? size : Math.min(size, cut),
      after: query.after,
      cursorOf: ({ createdKey, id }) => cursors.encode(LIST, [createdKey, id]),
    });
    const items = page.items.map(toListed);
    return { items, data: items, count, pageInfo: page.pageInfo };
  }),

  handle(operations.createWorkbook, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const id = await insertWorkbook(tx, viewer, body, null);
      const after = await requireWorkbook(tx, viewer, id!, NONE);
      etag.send(after);
      return { reply: after, changes: changesOf(null, after) };
    }),
  ),

  handle(operations.getWorkbook, async ({ actor, db, etag }, { params }) => {
    const row = await requireWorkbook(db, viewerOf(actor, params.deploymentId), params.workbookId, READ);
    // Publishing and every change of the published dashboard make a new version of the workbook.
    etag.send(row);
    const { dashboardDraft, ...shown } = row;
    const workbook = row.level < EDIT ? shown : { ...shown, dashboardDraft };
    const publishedDashboard = await findPublished(db, actor, workbook);
    return publishedDashboard ? { ...workbook, publishedDashboard } : workbook;
  }),

  handle(operations.updateWorkbook, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockWorkbook(tx, viewer, params.workbookId, EDIT);
      etag.require(before);
      const taken = await takeSlug(tx, viewer, before, body);
      const after = await updateWorkbook(tx, viewer, before, body);
      etag.send(after);
      const managers = await newManagers(tx, viewer, before, after);
      return { reply: { ...after, ...managers }, changes: [...taken, ...changesOf(before, after)] };
    }),
  ),

  handle(operations.upsertWorkbookBySlug, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const { before, after } = await upsertWorkbook(tx, viewer, body, { slug: params.slug, etag });
      etag.send(after);
      const managers = await newManagers(tx, viewer, before, after);
      return { reply: { ...after, ...managers }, changes: changesOf(before, after) };
    }),
  ),

  handle(operations.deleteWorkbook, ({ actor, change, etag }, { params }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockWorkbook(tx, viewer, params.workbookId, MANAGE);
      etag.require(before);
      await deleteWorkbook(tx, viewer, before.id);
      return { reply: undefined, changes: deleted(before) };
    }),
  ),

  handle(operations.duplicateWorkbook, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      await requireHome(tx, viewer);
      const original = await lockWorkbook(tx, viewer, params.workbookId, READ);
      // The shared workspace holds only what other users own.
      if (body.shared && original.userId === actor.userId) throw new ApiError('workbook_not_found');
      // The copy lies beside the original if the caller may put things there, and otherwise at the root.
      const [beside] = original.folderId === null ? [] : await editableFolder(tx, viewer, original.folderId);
      const folderId = body.shared ? null : (beside ?? null);
      const isEditable = original.level >= EDIT;
      const name = copyName(original.name);
      const id = await store.copyWorkbook(tx, original.id, name, actor.userId, folderId, isEditable);
      const ids = await store.listReadableReportIds(tx, viewer, original.id);
      if (ids.length > limits.reportsInWorkbook) throw new ApiError('workbook_full');
      const publicIds = ids.map(() => newPublicId());
      const place = { workbookId: id, folderId, userId: actor.userId };
      const copies = await copyReports(tx, { ids, publicIds, ...place });
      const idOf = new Map(copies.map((copied) => [copied.publicId, copied.id]));
      const copyOf = new Map(ids.map((originalId, i) => [originalId, idOf.get(publicIds[i]!)!]));
      const draft = isEditable ? original.dashboardDraft : original.dashboardPublished;
      if (draft) await store.updateDraft(tx, id, withCopies(draft, copyOf));
      const copy = await requireWorkbook(tx, viewer, id, NONE);
      etag.send(copy);
      return { reply: copy, changes: changesOf(null, copy) };
    }),
  ),

  handle(operations.updateWorkbookDashboard, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockWorkbook(tx, viewer, params.workbookId, EDIT);
      etag.require(before);
      const after = await updateDraft(tx, viewer, before, body.dashboardDraft);
      etag.send(after);
      const { dashboardDraft, dashboardPublished } = after;
      const isKnown = after !== before && (await isKnownSession(tx, actor.userId, before.id, body));
      return {
        reply: { dashboardDraft, dashboardPublished },
        changes: isKnown ? [] : changesOf(before, after),
      };
    }),
  ),
];

/** Whether the audit log has an entry for this editing session. Each day has its own, however long somebody edits. */
async function isKnownSession(
  tx: Tx,
  userId: number,
  workbookId: number,
  { editingSession }: { editingSession?: string | null },
) {
  if (editingSession == null) return false;
  const day = new Date().toISOString().slice(0, 10);
  return !(await store.beginEditing(tx, workbookId, `${day} ${userId} ${editingSession}`));
}

const changesOf = (before: store.WorkbookRow | null, after: store.WorkbookRow) =>
  before === after ? [] : [before ? changed(before, after) : created(after)];
