import type { Module } from '../../platform/module.ts';
import type { Queries } from '../queries/index.ts';
import { cleanup } from './cleanup.store.ts';
import { reportRoutes } from './routes.ts';

export { isVisible } from './list.store.ts';
export { findReport, listReports, type ReportRow, toReport } from './read.ts';
export { EMPTY_REPORT, lockReport, moveReport, requireReport } from './reports.ts';
export { hasTrigrams, searchPattern } from './rules.ts';
export {
  copyReports,
  deleteReport,
  insertReport as insertReportRow,
  moveReportsOfWorkbook,
} from './store.ts';

export const reports = (queries: Pick<Queries, 'run' | 'runSql'>): Module => ({
  routes: reportRoutes(queries),
  cleanup,
});
