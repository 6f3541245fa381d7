/** What other nouns ask of workbooks. */
import type { Queryable, Tx } from '../../platform/db/database.ts';
import { ApiError, found } from '../../platform/errors.ts';
import { type Level, MANAGE, NONE, READ, type Viewer } from '../access/index.ts';
import { requireMoveTarget } from '../folders/index.ts';
import { moveReportsOfWorkbook } from '../reports/index.ts';
import * as store from './store.ts';

export const UNTITLED = 'Untitled workbook';

/** The workbook as callers see it. */
export const toWorkbook = <Row extends store.PlainWorkbookRow>({
  createdKey: _key,
  version: _version,
  embedTenant: _tenant,
  level: _level,
  ...workbook
}: Row) => workbook;

/** A 404 for who may not know of it, a 403 for who may not do that much with it. */
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
/** Without its dashboards, for whoever does not need them: they may be large. */
export const requirePlainWorkbook = requiring(store.findPlainWorkbook);

/** As above, and nobody else changes it until the transaction ends. */
export async function lockWorkbook(tx: Tx, viewer: Viewer, id: number, level: Level) {
  await store.lockWorkbook(tx, id);
  return requireWorkbook(tx, viewer, id, level);
}

export async function lockPlainWorkbook(tx: Tx, viewer: Viewer, id: number, level: Level) {
  await store.lockWorkbook(tx, id);
  return requirePlainWorkbook(tx, viewer, id, level);
}

export async function moveWorkbook(tx: Tx, viewer: Viewer, id: number, folderId: number | null) {
  const before = await lockPlainWorkbook(tx, viewer, id, MANAGE);
  await requireMoveTarget(tx, viewer, before, folderId);
  if (!(await store.updateWorkbook(tx, { ...before, folderId }))) return { before, after: before };
  await moveReportsOfWorkbook(tx, id, folderId);
  return { before, after: await requirePlainWorkbook(tx, viewer, id, NONE) };
}

/** What is in a workbook goes with it, so whoever deletes it must manage all of that. */
export async function deleteWorkbook(tx: Tx, viewer: Viewer, id: number) {
  if (viewer.levels.Report < MANAGE && (await store.hasUnmanagedReports(tx, viewer, id)))
    throw new ApiError('forbidden', {
      message: 'There are reports in the workbook that you may not delete.',
    });
  await store.deleteWorkbook(tx, id);
}

/** As in a list: with the dashboards of apps left out. */
export function toListed({ fits: _fits, draftIsApp, publishedIsApp, ...row }: store.ListedWorkbook) {
  const { dashboardDraft, dashboardPublished, ...workbook } = toWorkbook(row);
  return {
    ...workbook,
    ...(draftIsApp ? {} : { dashboardDraft }),
    ...(publishedIsApp ? {} : { dashboardPublished }),
  };
}

/** The workbooks of a list, as many as fit into a page, and the id of the first that does not. */
export async function listWorkbooksById(db: Queryable, viewer: Viewer, ids: readonly number[]) {
  const rows = await store.listWorkbooksById(db, viewer, ids);
  return {
    rows: rows.filter(({ fits }) => fits).map(toListed),
    cutAt: rows.find(({ fits }) => !fits)?.id,
  };
}
