import type { Module } from '../../platform/module.ts';
import { cleanup } from './cleanup.store.ts';
import { type FindPublished, workbookRoutes } from './routes.ts';

export {
  insertWorkbook,
  lockWorkbook as lockWorkbookRow,
  type PlainWorkbookRow,
  setPublished,
  touchWorkbook,
  updateDraft as setDraft,
  visibleWorkbooks,
} from './store.ts';
export {
  deleteWorkbook,
  listWorkbooksById,
  lockPlainWorkbook,
  moveWorkbook,
  requirePlainWorkbook,
  requireWorkbook,
  requireWorkbookContent,
  toWorkbook,
} from './workbooks.ts';

/** `findPublished` reads the published dashboard of a workbook. */
export const workbooks = (findPublished: FindPublished): Module => ({
  routes: workbookRoutes(findPublished),
  cleanup,
});
