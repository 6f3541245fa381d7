import { operations } from '@oriel/contract';
import { type Tx, violatedConstraint } from '../../platform/db/database.ts';
import { ApiError } from '../../platform/errors.ts';
import { type Cursors, pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { newPublicId } from '../../platform/public-id.ts';
import {
  EDIT,
  embedTenantOf,
  MANAGE,
  NONE,
  READ,
  requireHome,
  type Viewer,
  viewerOf,
} from '../access/index.ts';
import { requireMoveTarget, requireTarget } from '../folders/index.ts';
import * as store from './store.ts';
import { lockWorkbook, requireWorkbook, UNTITLED } from './workbooks.ts';

const LIST = 'workbooks by creation';

export const workbookRoutes = ({ cursors }: { cursors: Cursors }) => [
  handle(operations.getWorkbooks, async ({ actor, db }, { params, query }) => {
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
    const { items, pageInfo } = toPage(rows, {
      size,
      after: query.after,
      cursorOf: ({ createdKey, id }) => cursors.encode(LIST, [createdKey, id]),
    });
    return { items, data: items, count, pageInfo };
  }),

  handle(operations.createWorkbook, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const id = await insert(tx, viewer, body, null);
      const created = await requireWorkbook(tx, viewer, id!, NONE);
      return { reply: created, changes: { id: created.id, before: null, after: created } };
    }),
  ),

  handle(operations.getWorkbook, async ({ actor, db, etag }, { params }) => {
    const workbook = await requireWorkbook(db, viewerOf(actor, params.deploymentId), params.workbookId, READ);
    etag.send(workbook.version);
    return workbook;
  }),

  handle(operations.updateWorkbook, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockWorkbook(tx, viewer, params.workbookId, EDIT);
      etag.require(before.version);
      const taken = await takeSlug(tx, viewer, before, body);
      const after = await update(tx, viewer, before, body);
      etag.send(after.version);
      return { reply: after, changes: [...taken, { id: after.id, before, after }] };
    }),
  ),

  handle(operations.upsertWorkbookBySlug, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const id = await insert(tx, viewer, body, params.slug);
      if (id !== undefined) {
        const created = await requireWorkbook(tx, viewer, id, NONE);
        return { reply: created, changes: { id, before: null, after: created } };
      }
      const known = await store.findWorkbookBySlug(tx, viewer, params.slug);
      if (!known) throw new ApiError('slug_taken');
      const before = await lockWorkbook(tx, viewer, known.id, EDIT);
      const after = await update(tx, viewer, before, body);
      return { reply: after, changes: { id: after.id, before, after } };
    }),
  ),

  handle(operations.deleteWorkbook, ({ actor, change }, { params }) =>
    change(async (tx) => {
      const before = await lockWorkbook(tx, viewerOf(actor, params.deploymentId), params.workbookId, MANAGE);
      await store.deleteWorkbook(tx, before.id);
      return { reply: undefined, changes: { id: before.id, before, after: null } };
    }),
  ),

  handle(operations.duplicateWorkbook, ({ actor, change }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      await requireHome(tx, viewer);
      const original = await lockWorkbook(tx, viewer, params.workbookId, READ);
      // The shared workspace is what others own.
      if (body.shared && original.userId === actor.userId) throw new ApiError('workbook_not_found');
      // Beside the original where the caller may put things there, else at the root.
      const [beside] = original.folderId === null ? [] : await editableFolder(tx, viewer, original.folderId);
      const folderId = body.shared ? null : (beside ?? null);
      const id = await store.copyWorkbook(tx, original.id, copyName(original.name), actor.userId, folderId);
      const ids = await store.listReadableReportIds(tx, viewer, original.id);
      const publicIds = ids.map(() => newPublicId());
      await store.copyReports(tx, { ids, publicIds, workbookId: id, folderId, userId: actor.userId });
      const copy = await requireWorkbook(tx, viewer, id, NONE);
      return { reply: copy, changes: { id, before: null, after: copy } };
    }),
  ),

  handle(operations.updateWorkbookDashboard, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockWorkbook(tx, viewer, params.workbookId, EDIT);
      etag.require(before.version);
      if (body.dashboardDraft !== undefined) await store.updateDraft(tx, before.id, body.dashboardDraft);
      const after = await requireWorkbook(tx, viewer, before.id, NONE);
      etag.send(after.version);
      const { dashboardDraft, dashboardPublished } = after;
      return { reply: { dashboardDraft, dashboardPublished }, changes: { id: after.id, before, after } };
    }),
  ),
];

interface Given {
  name?: string | null;
  folderId?: number | null;
  meta?: object | null;
}

async function insert(tx: Tx, viewer: Viewer, given: Given, slug: string | null) {
  const home = await requireHome(tx, viewer);
  const folder = await requireTarget(tx, viewer, given.folderId ?? null);
  return store.insertWorkbook(tx, {
    deploymentId: viewer.deploymentId,
    name: given.name ?? UNTITLED,
    slug,
    meta: given.meta ?? {},
    folderId: folder?.id ?? null,
    embedTenant: folder ? folder.embedTenant : home,
    userId: viewer.userId,
  });
}

/** What is not given stays, null clears. */
async function update(
  tx: Tx,
  viewer: Viewer,
  before: store.WorkbookRow,
  given: Given & { slug?: string | null },
) {
  const folderId = given.folderId === undefined ? before.folderId : given.folderId;
  if (folderId !== before.folderId) {
    // It changes who reaches the workbook.
    if (before.level < MANAGE) throw new ApiError('forbidden');
    await requireMoveTarget(tx, viewer, before, folderId);
    await store.moveReports(tx, before.id, folderId);
  }
  await store
    .updateWorkbook(tx, {
      id: before.id,
      name: given.name === undefined ? before.name : (given.name ?? UNTITLED),
      slug: given.slug === undefined ? before.slug : given.slug,
      meta: given.meta === undefined ? before.meta : (given.meta ?? {}),
      folderId,
    })
    .catch((error) => {
      if (violatedConstraint(error) === 'workbooks_slug_key') throw new ApiError('slug_taken');
      throw error;
    });
  return requireWorkbook(tx, viewer, before.id, NONE);
}

/** Takes the slug from its holder, where that is asked for and the caller manages both. */
async function takeSlug(
  tx: Tx,
  viewer: Viewer,
  taker: store.WorkbookRow,
  { slug, slugTakeover }: { slug?: string | null; slugTakeover?: boolean | null },
) {
  if (!slug || !slugTakeover) return [];
  await store.lockSlug(tx, viewer.deploymentId, slug);
  const holder = await store.slugHolder(tx, viewer.deploymentId, slug);
  if (!holder || holder.id === taker.id) return [];
  const [before] = await store.findWorkbooks(tx, viewer, [holder.id]);
  if (before?.level !== MANAGE || taker.level !== MANAGE) throw new ApiError('slug_taken');
  await store.clearSlug(tx, holder.id);
  return [{ id: holder.id, before, after: await requireWorkbook(tx, viewer, holder.id, NONE) }];
}

async function editableFolder(tx: Tx, viewer: Viewer, folderId: number): Promise<number[]> {
  const folder = await requireTarget(tx, viewer, folderId).catch((error: unknown) => {
    if (error instanceof ApiError) return null;
    throw error;
  });
  return folder ? [folder.id] : [];
}

/** `Sales` becomes `Sales (copy)`, within the length that a name may have. */
const copyName = (name: string) => `${[...name].slice(0, 248).join('')} (copy)`;
