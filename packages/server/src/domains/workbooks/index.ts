export { workbookRoutes } from './routes.ts';
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
