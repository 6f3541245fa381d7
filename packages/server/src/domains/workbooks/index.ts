import type { Module, Platform } from '../../platform/module.ts';
import { leftovers } from './leftovers.store.ts';
import { workbookRoutes } from './routes.ts';

export {
  insertWorkbook,
  type PlainWorkbookRow,
  visibleWorkbooks,
} from './store.ts';
export {
  deleteWorkbook,
  listWorkbooksById,
  lockPlainWorkbook,
  moveWorkbook,
  requirePlainWorkbook,
  toWorkbook,
} from './workbooks.ts';

export const workbooks = (_platform: Platform): Module => ({ routes: workbookRoutes(), leftovers });
