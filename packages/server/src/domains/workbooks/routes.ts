import { type BodyOf, limits, operations } from '@oriel/contract';
import { changed, created, deleted } from '../../platform/audit/change.ts';
import type { Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Etag } from '../../platform/http/etag.ts';
import { pageSize, toPage } from '../../platform/http/pages.ts';
import { handle } from '../../platform/http/routes.ts';
import { requireBytes } from '../../platform/limits.ts';
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
import { copyReports, moveReportsOfWorkbook } from '../reports/index.ts';
import * as store from './store.ts';
import { deleteWorkbook, lockWorkbook, requireWorkbook, toListed, UNTITLED } from './workbooks.ts';

const LIST = 'workbooks by creation';

export const workbookRoutes = () => [
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
      const id = await insert(tx, viewer, body, null);
      const after = await requireWorkbook(tx, viewer, id!, NONE);
      etag.send(after);
      return { reply: after, changes: changesOf(null, after) };
    }),
  ),

  handle(operations.getWorkbook, async ({ actor, db, etag }, { params }) => {
    const workbook = await requireWorkbook(db, viewerOf(actor, params.deploymentId), params.workbookId, READ);
    etag.send(workbook);
    return workbook;
  }),

  handle(operations.updateWorkbook, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const before = await lockWorkbook(tx, viewer, params.workbookId, EDIT);
      etag.require(before);
      const taken = await takeSlug(tx, viewer, before, body);
      const after = await update(tx, viewer, before, body);
      etag.send(after);
      return { reply: after, changes: [...taken, ...changesOf(before, after)] };
    }),
  ),

  handle(operations.upsertWorkbookBySlug, ({ actor, change, etag }, { params, body }) =>
    change(async (tx) => {
      const viewer = viewerOf(actor, params.deploymentId);
      const { before, after } = await upsert(tx, viewer, body, { slug: params.slug, etag });
      etag.send(after);
      return { reply: after, changes: changesOf(before, after) };
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
      // The shared workspace is what others own.
      if (body.shared && original.userId === actor.userId) throw new ApiError('workbook_not_found');
      // Beside the original where the caller may put things there, else at the root.
      const [beside] = original.folderId === null ? [] : await editableFolder(tx, viewer, original.folderId);
      const folderId = body.shared ? null : (beside ?? null);
      const id = await store.copyWorkbook(tx, original.id, copyName(original.name), actor.userId, folderId);
      const ids = await store.listReadableReportIds(tx, viewer, original.id);
      const publicIds = ids.map(() => newPublicId());
      await copyReports(tx, { ids, publicIds, workbookId: id, folderId, userId: actor.userId });
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
      return { reply: { dashboardDraft, dashboardPublished }, changes: changesOf(before, after) };
    }),
  ),
];

const changesOf = (before: store.WorkbookRow | null, after: store.WorkbookRow) =>
  before === after ? [] : [before ? changed(before, after) : created(after)];

interface Given {
  name?: string | null;
  folderId?: number | null;
  meta?: object | null;
}

async function insert(tx: Tx, viewer: Viewer, given: Given, slug: string | null) {
  requireBytes('meta', given.meta, limits.meta);
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

/** How often another call may create or delete the workbook while we are about to. Each time, that call succeeded. */
const UPSERT_TRIES = 10;

/** Changes the workbook with this slug, or creates it where there is none: among those where it is to be. */
async function upsert(
  tx: Tx,
  viewer: Viewer,
  given: Given,
  { slug, etag }: { slug: string; etag: Etag },
): Promise<{ before: store.WorkbookRow | null; after: store.WorkbookRow }> {
  const home = await requireHome(tx, viewer);
  const folder = await requireTarget(tx, viewer, given.folderId ?? null);
  const space = {
    deploymentId: viewer.deploymentId,
    embedTenant: folder ? folder.embedTenant : home,
  };
  for (let tries = 0; tries < UPSERT_TRIES; tries++) {
    const known = await store.lockSlugHolder(tx, space, slug);
    if (known) {
      const before = await store.findWorkbook(tx, viewer, known.id);
      if (!before) break;
      if (before.level < EDIT) throw new ApiError('forbidden');
      etag.require(before);
      return { before, after: await update(tx, viewer, before, given) };
    }
    etag.require(null);
    const id = await insert(tx, viewer, given, slug);
    if (id !== undefined) return { before: null, after: await requireWorkbook(tx, viewer, id, NONE) };
  }
  throw new ApiError('slug_taken');
}

async function updateDraft(
  tx: Tx,
  viewer: Viewer,
  before: store.WorkbookRow,
  draft: BodyOf<typeof operations.updateWorkbookDashboard>['dashboardDraft'],
) {
  if (draft === undefined) return before;
  requireBytes('dashboardDraft', draft, draft?.kind === 'APP' ? limits.appDashboard : limits.dashboard);
  requireBytes('dashboardDraft.theme', draft?.theme, limits.theme);
  const changed = await store.updateDraft(tx, before.id, draft);
  return changed ? requireWorkbook(tx, viewer, before.id, NONE) : before;
}

/** What is not given stays, null clears. Where nothing changes, it answers with `before`. */
async function update(
  tx: Tx,
  viewer: Viewer,
  before: store.WorkbookRow,
  given: Given & { slug?: string | null },
) {
  requireBytes('meta', given.meta, limits.meta);
  const folderId = given.folderId === undefined ? before.folderId : given.folderId;
  if (folderId !== before.folderId) {
    // It changes who reaches the workbook.
    if (before.level < MANAGE) throw new ApiError('forbidden');
    await requireMoveTarget(tx, viewer, before, folderId);
    await moveReportsOfWorkbook(tx, before.id, folderId);
  }
  const changed = await store
    .updateWorkbook(tx, {
      id: before.id,
      name: given.name === undefined ? before.name : (given.name ?? UNTITLED),
      slug: given.slug === undefined ? before.slug : given.slug,
      meta: given.meta === undefined ? before.meta : (given.meta ?? {}),
      folderId,
    })
    .catch(refusing({ workbooks_slug_key: 'slug_taken' }));
  return changed ? requireWorkbook(tx, viewer, before.id, NONE) : before;
}

/** Takes the slug from its holder, where that is asked for and the caller manages both. */
async function takeSlug(
  tx: Tx,
  viewer: Viewer,
  taker: store.WorkbookRow,
  { slug, slugTakeover }: { slug?: string | null; slugTakeover?: boolean | null },
) {
  if (!slug || !slugTakeover) return [];
  await store.lockSlug(tx, taker, slug);
  const holder = await store.lockSlugHolder(tx, taker, slug);
  if (!holder || holder.id === taker.id) return [];
  const before = await store.findWorkbook(tx, viewer, holder.id);
  if (before?.level !== MANAGE || taker.level !== MANAGE) throw new ApiError('slug_taken');
  await store.clearSlug(tx, holder.id);
  return [changed(before, await requireWorkbook(tx, viewer, holder.id, NONE))];
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
