import type { Module, Platform } from '../../platform/module.ts';
import { leftovers } from './leftovers.store.ts';
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

export const reports = (_platform: Platform): Module => ({ routes: reportRoutes(), leftovers });
