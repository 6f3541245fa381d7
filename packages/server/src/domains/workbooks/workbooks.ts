/** Operations on workbooks, some of which other domains use too. */
import { type BodyOf, limits, type operations } from '@oriel/contract';
import { changed } from '../../platform/audit/change.ts';
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { refusing } from '../../platform/db/refusing.ts';
import { ApiError, found } from '../../platform/errors.ts';
import type { Etag } from '../../platform/http/etag.ts';
import { requireBytes } from '../../platform/limits.ts';
import {
  EDIT,
  type Level,
  MANAGE,
  NONE,
  READ,
  requireHome,
  type Viewer,
  withContent,
  withMergedMeta,
} from '../access/index.ts';
import { requireMoveTarget, requireTarget } from '../folders/index.ts';
import { moveReportsOfWorkbook } from '../reports/index.ts';
import * as store from './store.ts';

export const UNTITLED = 'Untitled workbook';

/** The workbook as callers see it. */
export const toWorkbook = <Row extends Omit<store.PlainWorkbookRow, 'level'> & { level?: Level }>({
  createdKey: _key,
  version: _version,
  embedTenant: _tenant,
  level: _level,
  ...workbook
}: Row) => workbook;

/** Throws a 404 if the viewer cannot read the workbook, and a 403 if their level is too low. */
const requiring =
  <Row extends store.PlainWorkbookRow>(
    find: (db: Queryable, viewer: Viewer, id: number, least: Level) => Promise<Row | undefined>,
  ) =>
  async (db: Queryable, viewer: Viewer, id: number, level: Level) => {
    const workbook = found(await find(db, viewer, id, level === NONE ? NONE : READ), 'workbook_not_found');
    if (workbook.level < level) throw new ApiError('forbidden');
    return workbook;
  };

export const requireWorkbook = requiring(store.findWorkbook);
/** Reads the workbook without its dashboards, which may be large. */
export const requirePlainWorkbook = requiring(store.findPlainWorkbook);

/** Throws a 403 unless the viewer has this level on the workbook and on its reports. */
export async function requireWorkbookContent(db: Queryable, viewer: Viewer, id: number, level: Level) {
  const workbook = await store.findPlainWorkbook(db, withContent(viewer), id, NONE);
  if (!workbook || workbook.level < level) throw new ApiError('forbidden', { message: NOT_ITS_REPORTS });
}

const NOT_ITS_REPORTS =
  'You may not do this: your role reaches workbooks, and not the reports in them. It also needs the actions on reports.';

/** Like `requireWorkbook`, and nobody else can change the workbook until the transaction ends. */
export async function lockWorkbook(tx: Tx, viewer: Viewer, id: number, level: Level) {
  await store.lockWorkbook(tx, id);
  return requireWorkbook(tx, viewer, id, level);
}

export async function lockPlainWorkbook(tx: Tx, viewer: Viewer, id: number, level: Level) {
  await store.lockWorkbook(tx, id);
  return requirePlainWorkbook(tx, viewer, id, level);
}

/**
 * A move changes who can reach the workbook and its reports, so it needs `MANAGE` on all of them: owners of the target
 * manage whatever comes to lie in it.
 */
async function requireMove(
  tx: Tx,
  viewer: Viewer,
  workbook: store.PlainWorkbookRow,
  folderId: number | null,
) {
  if (workbook.level < MANAGE) throw new ApiError('forbidden');
  await requireWorkbookContent(tx, viewer, workbook.id, MANAGE);
  await requireMoveTarget(tx, viewer, workbook, folderId);
}

export async function moveWorkbook(tx: Tx, viewer: Viewer, id: number, folderId: number | null) {
  const before = await lockPlainWorkbook(tx, viewer, id, READ);
  await requireMove(tx, viewer, before, folderId);
  if (!(await store.updateWorkbook(tx, { ...before, folderId }))) return { before, after: before };
  await moveReportsOfWorkbook(tx, id, folderId);
  return { before, after: await requirePlainWorkbook(tx, viewer, id, NONE) };
}

/** The reports in a workbook are deleted with it, so the viewer must manage them too. */
export async function deleteWorkbook(tx: Tx, viewer: Viewer, id: number) {
  await requireWorkbookContent(tx, viewer, id, MANAGE);
  await store.deleteWorkbook(tx, id);
}

/** The workbook as it stands in a list, without the dashboards of apps and the drafts that others edit. */
export function toListed({
  fits: _fits,
  isEditable,
  draftIsApp,
  publishedIsApp,
  ...row
}: store.ListedWorkbook) {
  const { dashboardDraft, dashboardPublished, ...workbook } = toWorkbook(row);
  return {
    ...workbook,
    ...(isEditable && !draftIsApp ? { dashboardDraft } : {}),
    ...(publishedIsApp ? {} : { dashboardPublished }),
  };
}

/** Returns as many workbooks of a list as fit into a page, and the id of the first one that does not fit. */
export async function listWorkbooksById(db: Queryable, viewer: Viewer, ids: readonly number[]) {
  const rows = await store.listWorkbooksById(db, viewer, ids);
  return {
    rows: rows.filter(({ fits }) => fits).map(toListed),
    cutAt: rows.find(({ fits }) => !fits)?.id,
  };
}

interface WorkbookInput {
  name?: string | null;
  folderId?: number | null;
  meta?: object | null;
}

export async function insertWorkbook(tx: Tx, viewer: Viewer, given: WorkbookInput, slug: string | null) {
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

/** Each try fails only because another call has just created or deleted the workbook. */
const UPSERT_TRIES = 10;

/** Changes the workbook with this slug, or creates it if there is none. The slug is that of the target folder's tenant. */
export async function upsertWorkbook(
  tx: Tx,
  viewer: Viewer,
  given: WorkbookInput,
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
      return { before, after: await updateWorkbook(tx, viewer, before, withMergedMeta(before, given)) };
    }
    etag.require(null);
    const id = await insertWorkbook(tx, viewer, given, slug);
    if (id !== undefined) return { before: null, after: await requireWorkbook(tx, viewer, id, NONE) };
  }
  throw new ApiError('slug_taken');
}

export async function updateDraft(
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

/** A field that is not given stays, and null clears it. Returns `before` itself if nothing changes. */
export async function updateWorkbook(
  tx: Tx,
  viewer: Viewer,
  before: store.WorkbookRow,
  given: WorkbookInput & { slug?: string | null },
) {
  requireBytes('meta', given.meta, limits.meta);
  const folderId = given.folderId === undefined ? before.folderId : given.folderId;
  if (folderId !== before.folderId) {
    await requireMove(tx, viewer, before, folderId);
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

/** Takes the slug from its holder if the caller asks for it and manages both workbooks. */
export async function takeSlug(
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

export async function editableFolder(tx: Tx, viewer: Viewer, folderId: number): Promise<number[]> {
  const folder = await requireTarget(tx, viewer, folderId).catch((error: unknown) => {
    if (error instanceof ApiError) return null;
    throw error;
  });
  return folder ? [folder.id] : [];
}

/** `Sales` becomes `Sales (copy)`. Long names are cut, so that the result is still a valid name. */
export const copyName = (name: string) => `${[...name].slice(0, 248).join('')} (copy)`;

interface Draft {
  widgets?: { type: string; config?: { reportId?: unknown } | null }[] | null;
}

/** The draft of a copied workbook: its charts show the copies of the reports. */
export const withCopies = (draft: object, copyOf: ReadonlyMap<unknown, number>): object => {
  const { widgets } = draft as Draft;
  if (!widgets) return draft;
  return {
    ...draft,
    widgets: widgets.map((widget) => {
      const reportId = widget.type === 'CHART' ? copyOf.get(widget.config?.reportId) : undefined;
      return reportId === undefined ? widget : { ...widget, config: { ...widget.config, reportId } };
    }),
  };
};
