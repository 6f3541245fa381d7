export { workbookRoutes } from './routes.ts';
export {
  deleteWorkbook,
  insertWorkbook,
  type PlainWorkbookRow,
  visibleWorkbooks,
} from './store.ts';
export {
  listWorkbooksById,
  lockPlainWorkbook,
  moveWorkbook,
  requirePlainWorkbook,
  toWorkbook,
} from './workbooks.ts';
