export { workbookRoutes } from './routes.ts';
export {
  deleteWorkbook,
  insertWorkbook,
  visibleWorkbooks,
  type WorkbookRow,
} from './store.ts';
export { listWorkbooksById, lockWorkbook, moveWorkbook, requireWorkbook, toWorkbook } from './workbooks.ts';
