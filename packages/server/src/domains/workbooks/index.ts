export { workbookRoutes } from './routes.ts';
export {
  deleteWorkbook,
  findWorkbooks,
  insertWorkbook,
  visibleWorkbooks,
  type WorkbookRow,
} from './store.ts';
export { lockWorkbook, moveWorkbook, requireWorkbook, toWorkbook } from './workbooks.ts';
